"""The families with one SentencePiece file: Llama and T5.

Takes: tokenizer.model or spiece.model.
Gives: a PieceTokenizer.
Uses:  special, tokenizer, published.{pieces,segment,settings,spm,spm_vocabulary,template,vocabulary_file}.
Never: a family by the name of its file; the file itself says how its pieces are found.

    Llama   BPE with bytes   <s> text    every space kept, one put before the text
    T5      Unigram          text </s>   spaces normalised; <extra_id_N> behind the pieces, counted downwards
"""

from pathlib import Path
from typing import Any

from clearhead.text.published.pieces import Manner, PieceTokenizer
from clearhead.text.published.segment import Segmenter
from clearhead.text.published.settings import Settings
from clearhead.text.published.spm import Algorithm, PieceKind, read_spm
from clearhead.text.published.spm_vocabulary import checked_roles, original_files, piece_vocabulary
from clearhead.text.published.template import read_template
from clearhead.text.published.vocabulary_file import add_tokens
from clearhead.text.special import SpecialTokens
from clearhead.text.tokenizer import Tokenizer

__all__ = ["load_sentencepiece"]

_LLAMA_TOKENS = SpecialTokens(unknown="<unk>", start="<s>", end="</s>")
_T5_TOKENS = SpecialTokens(pad="<pad>", unknown="<unk>", end="</s>")
_N_SENTINELS = 100


def load_sentencepiece(path: Path, settings: Settings) -> Tokenizer:
    """A tokenizer from one SentencePiece file: read as Llama does if it is BPE, as T5 does if it is Unigram."""
    settings.check_family("llama", "codellama", "t5", "mt5")
    model = read_spm(path)
    is_llama = model.algorithm is Algorithm.BPE
    model.dummy_prefix = model.dummy_prefix and settings.flag("add_prefix_space", default=True)
    vocabulary = {piece.spelling: index for index, piece in enumerate(model.pieces)}
    sentinels = [] if is_llama else _sentinels(settings)
    for sentinel in reversed(sentinels):
        vocabulary.setdefault(sentinel, len(vocabulary))
    inner = piece_vocabulary(vocabulary, model)
    settings.check_size(inner)
    special = checked_roles(settings, _LLAMA_TOKENS if is_llama else _T5_TOKENS, vocabulary=vocabulary, name=path)
    add_tokens(inner, special, settings.added, where=path)
    library: Any = inner
    library.add_special_tokens([*model.spellings(PieceKind.CONTROL, PieceKind.UNKNOWN), *sentinels])
    manner = Manner(
        start=special.start if settings.flag("add_bos_token", default=is_llama) else None,
        end=special.end if settings.flag("add_eos_token", default=not is_llama) else None,
        space_after_tokens=settings.flag("legacy", default=False) if is_llama else True,
    )
    return PieceTokenizer(
        inner=inner,
        special=special,
        segmenter=Segmenter(model=model),
        manner=manner,
        files=original_files(path.parent, [path.name]),
        chat_template=read_template(path.parent),
    )


def _sentinels(settings: Settings) -> list[str]:
    """T5's tokens for the gaps in a text: as many as the settings count, else as many as they list."""
    listed = [entry.token.content for entry in settings.added if entry.token.content.startswith("<extra_id_")]
    usual = len(listed) or (0 if settings.family == "mt5" else _N_SENTINELS)
    return [f"<extra_id_{number}>" for number in range(settings.count("extra_ids", default=usual))]
