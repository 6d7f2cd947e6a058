"""From a folder to a tokenizer, whatever files the folder has.

Takes: a folder as models are published in.
Gives: a Tokenizer.
Uses:  errors, special, tokenizer, published.{settings,template,vocabulary_file}; the readers of
       older layouts, published.{byte_level,llama_t5,marian,wordpiece}, where their files are found.
Never: a download, or a choice between two readings that give different ids: the newest layout in a folder is read.

    tokenizer.json                           any of them, complete; target/tokenizer.json beside it writes
    source.spm, target.spm and vocab.json    Marian
    spiece.model, tokenizer.model            T5, Llama
    vocab.json and merges.txt                GPT-2
    vocab.txt                                BERT, DistilBERT
"""

from pathlib import Path

from clearhead.errors import TextError
from clearhead.text.published.settings import Settings, read_published_settings
from clearhead.text.published.template import read_template
from clearhead.text.published.vocabulary_file import MARIAN_FILES, add_tokens
from clearhead.text.special import SpecialTokens, read_roles
from clearhead.text.tokenizer import FILE_NAME, TARGET_NAME, Tokenizer, read_inner

__all__ = ["has_tokenizer", "load_tokenizer"]

_FILES = (FILE_NAME, *MARIAN_FILES, "spiece.model", "tokenizer.model", "merges.txt", "vocab.txt")
_LAYOUTS = (
    "tokenizer.json; or vocab.json and merges.txt; or vocab.txt; or spiece.model or tokenizer.model; "
    "or source.spm, target.spm and vocab.json"
)


def has_tokenizer(folder: Path) -> bool:
    """Whether a folder holds the files of a tokenizer, in any layout."""
    return any((folder / name).exists() for name in _FILES)


def load_tokenizer(folder: Path | str) -> Tokenizer:
    """A published tokenizer, from any layout that the supported families come in.

    Marian reads with one set of pieces and writes with another: the result reads, and its `target` writes. So do our
    own translators with separate vocabularies. Everywhere else `target` is the tokenizer itself.

    Args:
        folder: The folder, or a tokenizer.json in it.
    """
    path = Path(folder)
    if path.is_file():
        if path.suffix != ".json":
            raise TextError("a file where a folder is needed", got=path, advice=f"give its folder, {path.parent}")
        return _load_json(path, read_published_settings(path.parent))
    if not path.is_dir():
        raise TextError("a folder that does not exist", got=path, advice="check the spelling of the path")
    settings = read_published_settings(path)
    if (path / FILE_NAME).exists():
        return _load_json(path / FILE_NAME, settings)
    return _load_older(path, settings)


def _load_older(path: Path, settings: Settings) -> Tokenizer:
    """A tokenizer from the files of a family; each family's reader is imported where its files are found."""
    # ruff: noqa: PLC0415
    if (path / "vocab.json").exists() and any((path / name).exists() for name in MARIAN_FILES):
        from clearhead.text.published.marian import load_marian

        return load_marian(path, settings)
    for name in ("spiece.model", "tokenizer.model"):
        if (path / name).exists():
            from clearhead.text.published.llama_t5 import load_sentencepiece

            return load_sentencepiece(path / name, settings)
    if (path / "vocab.json").exists() and (path / "merges.txt").exists():
        from clearhead.text.published.byte_level import load_byte_level

        return load_byte_level(path, settings)
    if (path / "vocab.txt").exists():
        from clearhead.text.published.wordpiece import load_wordpiece

        return load_wordpiece(path, settings)
    raise TextError("a folder without a tokenizer", got=path, expected=_LAYOUTS)


def _load_json(path: Path, settings: Settings) -> Tokenizer:
    """A tokenizer from its complete file; the files beside it add roles, tokens and a chat template."""
    inner = read_inner(path)
    settings.check_size(inner)
    add_tokens(inner, SpecialTokens(), settings.added, where=path)
    special = read_roles(path.parent, lambda token: inner.token_to_id(token) is not None)
    target = path.parent / TARGET_NAME
    return Tokenizer(
        inner=inner,
        special=special,
        chat_template=read_template(path.parent),
        target=Tokenizer.load(target) if (target / FILE_NAME).is_file() else None,
    )
