"""What a model is good for, one task at a time.

Takes: texts, and a loaded model or its name.
Gives: texts, answers, labels, vectors, and passages found; pipelines with the names and keys that are widely known.
Uses:  engine, decoding, weights, models, text, config, errors; numpy and torch.
Never: the command line or the server; a text that is lost because it is too long, empty or hostile.
"""

from typing import TYPE_CHECKING

from clearhead.doors import open_lazily

if TYPE_CHECKING:  # for type checkers and editors; at run time the doors below open these one by one
    from clearhead.tasks.completion import complete as complete
    from clearhead.tasks.completion import stream as stream
    from clearhead.tasks.conversation import chat as chat
    from clearhead.tasks.conversation import stream_chat as stream_chat
    from clearhead.tasks.index.passage import Hit as Hit
    from clearhead.tasks.labels import Label as Label
    from clearhead.tasks.labels import classify as classify
    from clearhead.tasks.language_pairs import languages as languages
    from clearhead.tasks.loaded import Loaded as Loaded
    from clearhead.tasks.masks import Filling as Filling
    from clearhead.tasks.masks import fill as fill
    from clearhead.tasks.pipelines import pipeline as pipeline
    from clearhead.tasks.question import answer as answer
    from clearhead.tasks.search_index import SearchIndex as SearchIndex
    from clearhead.tasks.summary import summarize as summarize
    from clearhead.tasks.token_labels import TokenLabel as TokenLabel
    from clearhead.tasks.token_labels import label as label
    from clearhead.tasks.translation import Translation as Translation
    from clearhead.tasks.translation import translate as translate
    from clearhead.tasks.vectors import embed as embed
    from clearhead.tasks.written import Span as Span
    from clearhead.tasks.written import Written as Written

_DOORS = {
    "Filling": "clearhead.tasks.masks",
    "Hit": "clearhead.tasks.index.passage",
    "Label": "clearhead.tasks.labels",
    "Loaded": "clearhead.tasks.loaded",
    "SearchIndex": "clearhead.tasks.search_index",
    "Span": "clearhead.tasks.written",
    "TokenLabel": "clearhead.tasks.token_labels",
    "Translation": "clearhead.tasks.translation",
    "Written": "clearhead.tasks.written",
    "answer": "clearhead.tasks.question",
    "chat": "clearhead.tasks.conversation",
    "classify": "clearhead.tasks.labels",
    "complete": "clearhead.tasks.completion",
    "embed": "clearhead.tasks.vectors",
    "fill": "clearhead.tasks.masks",
    "label": "clearhead.tasks.token_labels",
    "languages": "clearhead.tasks.language_pairs",
    "pipeline": "clearhead.tasks.pipelines",
    "stream": "clearhead.tasks.completion",
    "stream_chat": "clearhead.tasks.conversation",
    "summarize": "clearhead.tasks.summary",
    "translate": "clearhead.tasks.translation",
}

if not TYPE_CHECKING:
    __all__ = list(_DOORS)

__getattr__, __dir__ = open_lazily(__name__, _DOORS)
