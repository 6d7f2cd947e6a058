"""Marian's files: pieces of the source and of the target, and one vocabulary that numbers both.

Takes: source.spm, target.spm (one of them may be missing, the other stands in for it) and vocab.json.
Gives: the tokenizer of the source, with that of the target as its `target`.
Uses:  special, tokenizer, published.{pieces,segment,settings,spm,spm_vocabulary,vocabulary_file}.
Never: the ids of the SentencePiece files; the models count by vocab.json, and a piece it lacks is unknown.

    ">>fr<< Hello."   ->   >>fr<< · ▁Hello · . · </s>

A language at the start of a text is one piece where the vocabulary knows it, and plain text where it does not.
"""

from pathlib import Path

from clearhead.text.published.pieces import Manner, PieceTokenizer
from clearhead.text.published.segment import Segmenter
from clearhead.text.published.settings import Settings
from clearhead.text.published.spm import SpmFile, read_spm
from clearhead.text.published.spm_vocabulary import checked_roles, original_files, piece_vocabulary
from clearhead.text.published.vocabulary_file import MARIAN_FILES, add_tokens, read_vocabulary
from clearhead.text.special import SpecialTokens
from clearhead.text.tokenizer import Tokenizer

__all__ = ["load_marian"]

_VOCABULARY, _TARGET_VOCABULARY = "vocab.json", "target_vocab.json"
_TOKENS = SpecialTokens(pad="<pad>", unknown="<unk>", end="</s>")


def load_marian(folder: Path, settings: Settings) -> Tokenizer:
    """A tokenizer that reads the source language; its `target` reads and writes the target language."""
    settings.check_family("marian")
    separate = settings.flag("separate_vocabs", default=False)
    models = [read_spm(folder / name) for name in MARIAN_FILES if (folder / name).exists()]
    vocabularies = [_VOCABULARY, _TARGET_VOCABULARY] if separate else [_VOCABULARY]
    files = original_files(folder, [*MARIAN_FILES, *vocabularies])
    target = None
    if len(models) > 1 or separate:
        target = _one_side(models[-1], folder / vocabularies[-1], settings, files=files)
    return _one_side(models[0], folder / _VOCABULARY, settings, files=files, target=target)


def _one_side(
    model: SpmFile, path: Path, settings: Settings, *, files: dict[str, bytes], target: Tokenizer | None = None
) -> Tokenizer:
    vocabulary = read_vocabulary(path)
    inner = piece_vocabulary(vocabulary, model, strip_end=True)
    settings.check_size(inner)
    special = checked_roles(settings, _TOKENS, vocabulary=vocabulary, name=path)
    add_tokens(inner, special, settings.added, where=path)
    manner = Manner(end=special.end, languages=True)
    return PieceTokenizer(
        inner=inner, special=special, segmenter=Segmenter(model=model), manner=manner, files=files, target=target
    )
