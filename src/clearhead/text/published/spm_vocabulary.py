"""What every folder with SentencePiece files needs: ids for the pieces, text from the pieces, the files to save again.

Takes: a vocabulary and a SentencePiece file.
Gives: a `tokenizers.Tokenizer` that knows ids and writes text, and never cuts one.
Uses:  errors, files, special, tokenizer, published.{settings,spm,template,vocabulary_file}; tokenizers.
Never: a family's choices.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import Regex, decoders, models

from clearhead.errors import TextError
from clearhead.text.files import read_bounded
from clearhead.text.published.settings import Settings
from clearhead.text.published.spm import PieceKind, SpmFile
from clearhead.text.published.template import TEMPLATE_NAME
from clearhead.text.published.vocabulary_file import MAX_VOCABULARY_BYTES
from clearhead.text.special import SpecialTokens
from clearhead.text.tokenizer import SETTINGS_NAME, translated

__all__ = ["checked_roles", "original_files", "piece_vocabulary"]

_BESIDE = (SETTINGS_NAME, "special_tokens_map.json", "added_tokens.json", TEMPLATE_NAME)
_ALL_SPACES = 2**31


def piece_vocabulary(vocabulary: dict[str, int], model: SpmFile, *, strip_end: bool = False) -> tokenizers.Tokenizer:
    """The ids of pieces, and how text is written from them, as SentencePiece does.

    Args:
        vocabulary: The pieces and their ids.
        model: The file whose pieces they are.
        strip_end: Whether a text loses the spaces at its end.
    """
    with translated("a vocabulary that cannot be used", where=f"{model.name}: "):
        inner = tokenizers.Tokenizer(models.WordLevel(vocabulary, unk_token=model.spellings(PieceKind.UNKNOWN)[0]))
    n_before = _ALL_SPACES if model.remove_spaces else int(model.dummy_prefix)
    parts: list[Any] = [decoders.Replace("▁", " "), decoders.Fuse(), decoders.Strip(" ", n_before, 0)]
    if model.byte_fallback:
        parts.insert(1, decoders.ByteFallback())
    if strip_end:  # not with Strip, which breaks on a text that has nothing left
        parts.append(decoders.Replace(Regex(r" +\z"), ""))
    inner.decoder = decoders.Sequence(parts)
    return inner


def checked_roles(
    settings: Settings, usual: SpecialTokens, *, vocabulary: Mapping[str, int], name: Path
) -> SpecialTokens:
    """Roles as the settings give them, or a TextError where a text could not be read or ended with them."""
    added = (entry.token.content for entry in settings.added if entry.index is not None)
    special = settings.roles(usual, known=(*vocabulary, *added))
    if special.unknown is None or special.end is None:
        raise TextError(
            "a vocabulary without its usual tokens",
            got=f"{name}: unknown {special.unknown!r}, end {special.end!r}",
            expected="both, as the vocabulary or tokenizer_config.json spells them",
        )
    return special


def original_files(folder: Path, names: Sequence[str]) -> dict[str, bytes]:
    """The bytes of a tokenizer's files, and of the settings beside them, those that are there."""
    paths = [folder / name for name in (*names, *_BESIDE)]
    return {path.name: read_bounded(path, limit=MAX_VOCABULARY_BYTES) for path in paths if path.is_file()}
