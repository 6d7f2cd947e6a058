"""A tokenizer: text to ids and back, with the place in the text that each piece came from.

Takes: text, ids, or a tokenizer.json of any make.
Gives: Tokenizer and Encoding.
Uses:  errors, files, special, words, published.template; published.chat, for a conversation; tokenizers.
Never: truncation, padding or tensors; batches are made elsewhere.
"""

import json
import operator
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import SupportsIndex

import tokenizers

from clearhead.errors import ClearheadError, TextError, nearest
from clearhead.text.files import read_bounded, replacing
from clearhead.text.published.template import TEMPLATE_NAME, read_template
from clearhead.text.special import (
    SETTING_NAMES,
    SpecialIds,
    SpecialTokens,
    guess_roles,
    read_roles,
    role_settings,
)
from clearhead.text.words import check_text

__all__ = ["Encoding", "Tokenizer", "read_inner", "translated"]

FILE_NAME = "tokenizer.json"
TARGET_NAME = "target"
SETTINGS_NAME = "tokenizer_config.json"
MAX_FILE_BYTES = 128 * 2**20
_MAX_ID = 2**32 - 1
_FEW_SPECIAL = 64


@dataclass(frozen=True, kw_only=True)
class Encoding:
    """A text as a tokenizer reads it; all fields run in step, one entry for each piece.

    Attributes:
        ids: The id of each piece.
        pieces: Its spelling in the vocabulary (byte-level pieces write a space as Ġ).
        offsets: Where it came from: `text[start:end]`; (0, 0) where the tokenizer added it.
        special: Whether it is a special token.
        segments: Which of two texts it belongs to, as the model's segment embedding counts them.
    """

    ids: tuple[int, ...]
    pieces: tuple[str, ...]
    offsets: tuple[tuple[int, int], ...]
    special: tuple[bool, ...]
    segments: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.ids)


class Tokenizer:
    """A typed door around a `tokenizers.Tokenizer`.

    Args:
        inner: The tokenizer behind the door. It is taken over: its own truncation and padding are switched off,
            because a text that is cut short unasked is lost data.
        special: Which special token has which role; guessed from the usual spellings where not given.
        chat_template: How the model was taught to read a conversation, in Jinja's language.
        target: The tokenizer of what the model writes, where that is another one.
    """

    def __init__(
        self,
        *,
        inner: tokenizers.Tokenizer,
        special: SpecialTokens | None = None,
        chat_template: str | None = None,
        target: "Tokenizer | None" = None,
    ) -> None:
        inner.no_truncation()
        inner.no_padding()
        self._inner = inner
        self._met: set[int] = set()  # ids that were found in the vocabulary: a text has few others
        self._target = target
        self.chat_template = chat_template
        added = inner.get_added_tokens_decoder()
        self._special_ids = frozenset(index for index, token in added.items() if token.special)
        names = {token.content for token in added.values() if token.special}
        self._tokens = guess_roles(names.__contains__) if special is None else special
        self._special = SpecialIds(
            **{role: token and self.id_of(token) for role, token in asdict(self._tokens).items()}
        )

    @classmethod
    def load(cls, path: Path | str) -> "Tokenizer":
        """A tokenizer from its file, or from the folder that holds its tokenizer.json."""
        path = Path(path)
        if path.is_dir():
            path = path / FILE_NAME
        inner = read_inner(path)
        special = read_roles(path.parent, lambda token: inner.token_to_id(token) is not None)
        target = path.parent / TARGET_NAME
        return cls(
            inner=inner,
            special=special,
            chat_template=read_template(path.parent),
            target=cls.load(target) if (target / FILE_NAME).is_file() else None,
        )

    def save(self, folder: Path | str) -> Path:
        """Write the tokenizer, the roles of its special tokens and its chat template into a folder.

        The tokenizer of what the model writes goes into the folder `target`, where it is another one.

        Returns:
            The path of the tokenizer itself.
        """
        folder = Path(folder)
        settings = json.dumps(role_settings(self._tokens), ensure_ascii=False, indent=2)
        files = {FILE_NAME: self._inner.to_str(pretty=True) + "\n", SETTINGS_NAME: settings + "\n"}
        if self.chat_template is not None:
            files[TEMPLATE_NAME] = self.chat_template
        for name, content in files.items():
            with replacing(folder / name) as stream:
                stream.write(content.encode("utf-8"))
        if self._target is not None:
            self._target.save(folder / TARGET_NAME)
        return folder / FILE_NAME

    @property
    def vocab_size(self) -> int:
        """How many pieces there are, special tokens included."""
        return self._inner.get_vocab_size(with_added_tokens=True)

    @property
    def vocabulary(self) -> dict[str, int]:
        """Every piece and its id, special tokens included, in no order."""
        return self._inner.get_vocab(with_added_tokens=True)

    @property
    def special(self) -> SpecialIds:
        """The ids of the special tokens by role."""
        return self._special

    @property
    def target(self) -> "Tokenizer":
        """The tokenizer of what the model writes: this one, unless it has files of its own, as Marian's has."""
        return self._target or self

    def id_of(self, piece: str) -> int:
        """The id of a piece, spelled as the vocabulary spells it."""
        found = self._inner.token_to_id(check_text(piece))
        if found is None:
            raise TextError(
                "a piece that is not in the vocabulary",
                got=repr(piece),
                expected=f"one of its {self.vocab_size} pieces",
                advice=nearest(piece, self._inner.get_vocab()),
            )
        return found

    def piece_of(self, index: SupportsIndex) -> str:
        """The piece that an id stands for."""
        try:
            number = operator.index(index)
        except TypeError:
            raise TextError("an id that is not a whole number", got=repr(index)) from None
        piece = self._inner.id_to_token(number) if 0 <= number <= _MAX_ID else None
        if piece is None:
            raise TextError(
                "an id that is not in the vocabulary", got=number, expected=f"an id from 0 to {self.vocab_size - 1}"
            )
        return piece

    def name_of(self, index: int) -> str:
        """The piece that an id stands for, or its number: models may have outputs that stand for no piece."""
        return self.piece_of(index) if index < self.vocab_size else f"#{index}"

    def readable(self, index: int) -> str:
        """The piece as people read it: without marks for spaces, bytes put together where they make letters."""
        name = self.name_of(index)
        text = self._inner.decode([index], skip_special_tokens=False).strip(" ") if index < self.vocab_size else ""
        return text if text and "\ufffd" not in text else name

    def encode(self, text: str, *, add_special: bool = True, literal: bool = False) -> Encoding:
        """Read a text.

        Args:
            text: Any text.
            add_special: Whether to add the special tokens that the tokenizer puts around a text.
            literal: Whether the spelling of a special token inside the text is ordinary text. Switch it on for text
                from strangers, and where decoding must give back the text whatever it holds.
        """
        return self.encode_batch([text], add_special=add_special, literal=literal)[0]

    def encode_pair(self, a: str, b: str, *, add_special: bool = True, literal: bool = False) -> Encoding:
        """Read two texts as one input; the offsets count within the text that a piece came from."""
        checked = check_text(a), check_text(b)
        inner = self._reader(checked, literal=literal)
        with translated("a text that this tokenizer cannot read"):
            return self._wrap(inner.encode(*checked, add_special_tokens=add_special))

    def encode_batch(self, texts: Iterable[str], *, add_special: bool = True, literal: bool = False) -> list[Encoding]:
        """Read many texts, each as `encode` would."""
        if isinstance(texts, str):
            raise TextError("one text where many are needed", got=repr(texts[:60]), advice="encode, or a list of texts")
        checked = [check_text(text) for text in texts]
        inner = self._reader(checked, literal=literal)
        with translated("a text that this tokenizer cannot read"):
            return [self._wrap(found) for found in inner.encode_batch(checked, add_special_tokens=add_special)]

    def decode(self, ids: Iterable[SupportsIndex], *, skip_special: bool = True) -> str:
        """The text that ids stand for, special tokens left out unless asked for."""
        numbers: list[int] = []
        for index in ids:
            if type(index) is not int or index not in self._met:
                self.piece_of(index)
                self._met.add(operator.index(index))
            numbers.append(operator.index(index))
        with translated("ids that this tokenizer cannot decode"):
            return self._inner.decode(numbers, skip_special_tokens=skip_special)

    def chat(self, messages: Sequence[Mapping[str, object]], *, add_generation_prompt: bool = True) -> str:
        """A conversation as the one text that the model was taught to read.

        The text spells out its special tokens, so encode it with `add_special=False`.

        Args:
            messages: The messages in order, each with at least a `role` and a `content`.
            add_generation_prompt: Whether the text ends where the model's answer begins.
        """
        if self.chat_template is None:
            raise TextError(
                "a tokenizer without a chat template",
                expected=f"a chat_template in {SETTINGS_NAME}, or {TEMPLATE_NAME}",
                advice="complete plain text with this model, or give the tokenizer a chat_template",
            )
        from clearhead.text.published.chat import render_chat  # noqa: PLC0415  (most models are never talked to)

        tokens = {names[0]: token for role, names in SETTING_NAMES.items() if (token := getattr(self._tokens, role))}
        return render_chat(self.chat_template, messages, tokens=tokens, add_generation_prompt=add_generation_prompt)

    def _reader(self, texts: Sequence[str], *, literal: bool) -> tokenizers.Tokenizer:
        """What reads these texts: the twin that takes special tokens for text, where there may be one in them."""
        spelled = self._spelled
        if not literal or (spelled is not None and not any(token in text for text in texts for token in spelled)):
            return self._inner
        return self._literal

    @cached_property
    def _spelled(self) -> tuple[str, ...] | None:
        """How special tokens are spelled in a text; None where they are many, or found only once it is normalised."""
        added = [token for token in self._inner.get_added_tokens_decoder().values() if token.special]
        if len(added) > _FEW_SPECIAL or any(token.normalized for token in added):
            return None
        return tuple(token.content for token in added)

    @cached_property
    def _literal(self) -> tokenizers.Tokenizer:
        """A twin that takes special tokens in a text for text; the switch belongs to a whole tokenizer, not a call."""
        twin = tokenizers.Tokenizer.from_str(self._inner.to_str())
        twin.encode_special_tokens = True
        return twin

    def _wrap(self, found: tokenizers.Encoding) -> Encoding:
        return Encoding(
            ids=tuple(found.ids),
            pieces=tuple(found.tokens),
            offsets=tuple(found.offsets),
            special=tuple(index in self._special_ids for index in found.ids),
            segments=tuple(found.type_ids),
        )


def read_inner(path: Path) -> tokenizers.Tokenizer:
    """The library's own tokenizer from a tokenizer.json, within bounds."""
    content = read_bounded(path, limit=MAX_FILE_BYTES)
    with translated("a tokenizer file that cannot be read", where=f"{path}: "):
        return tokenizers.Tokenizer.from_buffer(content)


@contextmanager
def translated(problem: str, *, where: str = "") -> Generator[None, None, None]:
    """Whatever the library says, as a TextError: it raises plain exceptions, and panics on files made to break it."""
    try:
        yield
    except ClearheadError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise TextError(problem, got=f"{where}{str(error)[:300]}") from None
