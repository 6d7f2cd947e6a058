"""A Tokenizer whose pieces SentencePiece finds and whose ids a vocabulary gives.

Takes: a segmenter, a vocabulary, the tokens around a text, the files that it all came from.
Gives: PieceTokenizer.
Uses:  errors, files, special, tokenizer, words, published.{segment,spm}; tokenizers.
Never: writes its files anew; `save` copies them, so that every program reads them as it did.

    "Hi</s> there"   ->   [Hi] </s> [ there]   ->   ▁Hi · </s> · ▁there   ->   ids
                          added tokens first        pieces of the rest
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import tokenizers
from tokenizers import AddedToken

from clearhead.errors import TextError
from clearhead.text.files import replacing
from clearhead.text.published.segment import Found, Segmenter
from clearhead.text.special import SpecialTokens
from clearhead.text.tokenizer import Encoding, Tokenizer
from clearhead.text.words import check_text

__all__ = ["Manner", "PieceTokenizer"]

_SPACES = r"\s*"
_LANGUAGE = re.compile(r">>.*?<<", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Manner:
    """How a family reads a text with its pieces.

    Attributes:
        start: The token before a text, or None.
        end: The token after it, or None.
        space_after_tokens: Whether the text behind an added token begins like a text of its own, with a space.
        languages: Whether a text may begin with the name of a language, as >>fr<<, where the vocabulary knows it.
    """

    start: str | None = None
    end: str | None = None
    space_after_tokens: bool = True
    languages: bool = False


class PieceTokenizer(Tokenizer):
    """A tokenizer of pieces that SentencePiece finds.

    Args:
        inner: The vocabulary, the added tokens and the decoder; it is never asked to cut a text.
        special: Which special token has which role.
        segmenter: What cuts a text.
        manner: How the family reads a text.
        files: The files that it all came from, by name.
        chat_template: How the model was taught to read a conversation.
        target: The tokenizer of what the model writes, where that is another one.
    """

    def __init__(
        self,
        *,
        inner: tokenizers.Tokenizer,
        special: SpecialTokens,
        segmenter: Segmenter,
        manner: Manner,
        files: Mapping[str, bytes],
        chat_template: str | None = None,
        target: Tokenizer | None = None,
    ) -> None:
        super().__init__(inner=inner, special=special, chat_template=chat_template, target=target)
        self._segmenter = segmenter
        self._manner = manner
        self._files = dict(files)
        self._ids = inner.get_vocab()
        self._pieces = {index: piece for piece, index in self._ids.items()}
        added = list(inner.get_added_tokens_decoder().values())
        self._added = _pattern(added)
        self._added_literal = _pattern([token for token in added if not token.special])

    def save(self, folder: Path | str) -> Path:
        """Write the files that the tokenizer came from into a folder.

        Returns:
            The path of the first of them.
        """
        for name, content in self._files.items():
            with replacing(Path(folder) / name) as stream:
                stream.write(content)
        return Path(folder) / next(iter(self._files))

    def encode_pair(self, a: str, b: str, *, add_special: bool = True, literal: bool = False) -> Encoding:
        """Read two texts as one input; the offsets count within the text that a piece came from."""
        first, second = self.encode_batch([a, b], add_special=add_special, literal=literal)
        return Encoding(
            ids=first.ids + second.ids,
            pieces=first.pieces + second.pieces,
            offsets=first.offsets + second.offsets,
            special=first.special + second.special,
            segments=(0,) * len(first) + (1,) * len(second),
        )

    def encode_batch(self, texts: Iterable[str], *, add_special: bool = True, literal: bool = False) -> list[Encoding]:
        """Read many texts, each as `encode` would."""
        if isinstance(texts, str):
            raise TextError("one text where many are needed", got=repr(texts[:60]), advice="encode, or a list of texts")
        divided = [self._divide(check_text(text), literal=literal) for text in texts]
        plain = [(part, start) for parts in divided for part, start, index in parts if index is None]
        cuts = iter(
            self._segmenter(
                [part for part, _ in plain],
                first=[self._manner.space_after_tokens or start == 0 for _, start in plain],
            )
        )
        unknown = self.special.unknown
        assert unknown is not None
        return [
            self._assemble(
                [
                    (self._ids.get(found.piece or "", unknown), found.start + start, found.end + start)
                    for part, start, index in parts
                    for found in (next(cuts) if index is None else [Found(self._pieces[index], 0, len(part))])
                ],
                add_special=add_special,
            )
            for parts in divided
        ]

    def _divide(self, text: str, *, literal: bool) -> list[tuple[str, int, int | None]]:
        """A text cut at the added tokens in it: each part, where it starts, and its id if it is such a token."""
        parts: list[tuple[str, int, int | None]] = []
        done = 0
        if not literal and self._manner.languages and (code := _LANGUAGE.match(text)) and code[0] in self._ids:
            done = code.end()
            parts.append((code[0], 0, self._ids[code[0]]))
        pattern = self._added_literal if literal else self._added
        for found in pattern.finditer(text, done) if pattern else ():
            parts.append((text[done : found.start()], done, None))
            spelling = found[0] if found[0] in self._ids else found[0].strip()
            parts.append((found[0], found.start(), self._ids[spelling]))
            done = found.end()
        parts.append((text[done:], done, None))
        return [part for part in parts if part[0]]

    def _assemble(self, found: Sequence[tuple[int, int, int]], *, add_special: bool) -> Encoding:
        """Ids with their places, and the tokens around them."""
        start, end = (self._manner.start, self._manner.end) if add_special else (None, None)
        before, after = ([(self._ids[token], 0, 0)] if token else [] for token in (start, end))
        rows = [*before, *found, *after]
        return Encoding(
            ids=tuple(index for index, _, _ in rows),
            pieces=tuple(self._pieces[index] for index, _, _ in rows),
            offsets=tuple((start, end) for _, start, end in rows),
            special=tuple(index in self._special_ids for index, _, _ in rows),
            segments=(0,) * len(rows),
        )


def _pattern(added: Sequence[AddedToken]) -> re.Pattern[str] | None:
    """What finds added tokens in a text, the longest where several begin at one place."""
    spelled: list[str] = []
    for token in sorted(added, key=lambda token: len(token.content), reverse=True):
        core = re.escape(token.content)
        if token.single_word:
            core = rf"(?<!\w){core}(?!\w)"
        spelled.append(_SPACES * token.lstrip + core + _SPACES * token.rstrip)
    return re.compile("|".join(spelled)) if spelled else None
