"""The data room: from files to batches.

Takes: text, tables and aligned files of any size, gzipped or not, several with weights.
Gives: cleaned records, a tokenizer made for them, token stores on disk, and batches from any place on.
Uses:  text, config, errors; numpy, imported when it is first needed.
Never: torch, models, a corpus in memory, or the same source sentence on both sides of a split.

    Source ──read_records──> Record ──clean──> Record ──prepare──> TokenStore ──Batches, Windows──> rows ──pad──> arrays
"""

from typing import TYPE_CHECKING

from clearhead.doors import open_lazily

if TYPE_CHECKING:  # for type checkers and editors; at run time the doors below open these one by one
    from clearhead.data.batches import Batches as Batches
    from clearhead.data.batches import Plan as Plan
    from clearhead.data.clean import CleaningRules as CleaningRules
    from clearhead.data.collate import mask_tokens as mask_tokens
    from clearhead.data.collate import pad as pad
    from clearhead.data.cursor import Cursor as Cursor
    from clearhead.data.preparation import Recipe as Recipe
    from clearhead.data.preparation import cleaned_records as cleaned_records
    from clearhead.data.preparation import prepare as prepare
    from clearhead.data.prepared import Prepared as Prepared
    from clearhead.data.prepared import open_prepared as open_prepared
    from clearhead.data.record import Record as Record
    from clearhead.data.record import Task as Task
    from clearhead.data.report import CleaningReport as CleaningReport
    from clearhead.data.source import Source as Source
    from clearhead.data.source import fingerprint as fingerprint
    from clearhead.data.source import read_records as read_records
    from clearhead.data.split import Split as Split
    from clearhead.data.split import is_held_out as is_held_out
    from clearhead.data.store import TokenStore as TokenStore
    from clearhead.data.store_writer import StoreWriter as StoreWriter
    from clearhead.data.store_writer import writing as writing
    from clearhead.data.vocabulary import make_tokenizer as make_tokenizer
    from clearhead.data.vocabulary import shortfall as shortfall
    from clearhead.data.windows import Windows as Windows

_DOORS = {
    "Batches": "clearhead.data.batches",
    "CleaningReport": "clearhead.data.report",
    "CleaningRules": "clearhead.data.clean",
    "Cursor": "clearhead.data.cursor",
    "Plan": "clearhead.data.batches",
    "Prepared": "clearhead.data.prepared",
    "Recipe": "clearhead.data.preparation",
    "Record": "clearhead.data.record",
    "Source": "clearhead.data.source",
    "Split": "clearhead.data.split",
    "StoreWriter": "clearhead.data.store_writer",
    "Task": "clearhead.data.record",
    "TokenStore": "clearhead.data.store",
    "Windows": "clearhead.data.windows",
    "cleaned_records": "clearhead.data.preparation",
    "fingerprint": "clearhead.data.source",
    "is_held_out": "clearhead.data.split",
    "make_tokenizer": "clearhead.data.vocabulary",
    "mask_tokens": "clearhead.data.collate",
    "open_prepared": "clearhead.data.prepared",
    "pad": "clearhead.data.collate",
    "prepare": "clearhead.data.preparation",
    "read_records": "clearhead.data.source",
    "shortfall": "clearhead.data.vocabulary",
    "writing": "clearhead.data.store_writer",
}

if not TYPE_CHECKING:
    __all__ = list(_DOORS)

__getattr__, __dir__ = open_lazily(__name__, _DOORS)
