"""What the files beside a tokenizer say: its class, its switches, the tokens added to it, the size of its model.

Takes: tokenizer_config.json, special_tokens_map.json, added_tokens.json and config.json, those that are there.
Gives: Settings, with a TextError for a value of the wrong type.
Uses:  errors, special; tokenizers.
Never: a setting that no supported family has.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import tokenizers
from tokenizers import AddedToken

from clearhead.errors import TextError
from clearhead.text.special import SETTING_NAMES, SpecialTokens, read_object, read_settings, spelling_of

__all__ = ["Added", "Settings", "read_published_settings"]

_CONFIG, _ADDED, _MODEL = "tokenizer_config.json", "added_tokens.json", "config.json"
_SWITCHES = ("special", "lstrip", "rstrip", "single_word", "normalized")
MAX_ADDED = 100_000


@dataclass(frozen=True, kw_only=True)
class Added:
    """A token beside the vocabulary, found in a text before anything else is.

    Attributes:
        token: How it is spelled and found.
        index: The id that the files give it; None where they leave that to the vocabulary.
    """

    token: AddedToken
    index: int | None = None


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of one folder.

    Attributes:
        folder: Where they were read.
        values: tokenizer_config.json over special_tokens_map.json.
        added: Tokens beside the vocabulary, in the order of their ids.
        model_size: How many ids the model beside it knows, where it says so.
    """

    folder: Path
    values: Mapping[str, object]
    added: tuple[Added, ...]
    model_size: int | None

    def flag(self, name: str, *, default: bool) -> bool:
        """A switch."""
        value = self.values.get(name)
        if value is not None and not isinstance(value, bool):
            raise self._odd(name, "true or false")
        return default if value is None else value

    def choice(self, name: str) -> bool | None:
        """A switch with a third position, null, which leaves the choice to the family."""
        return None if self.values.get(name) is None else self.flag(name, default=False)

    def count(self, name: str, *, default: int) -> int:
        """A number of tokens."""
        value = self.values.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_ADDED:
            raise self._odd(name, f"a whole number up to {MAX_ADDED}")
        return value

    @property
    def family(self) -> str | None:
        """The class that the settings name, in lower case and without "TokenizerFast"; None where they name none."""
        value = self.values.get("tokenizer_class")
        if value is not None and not isinstance(value, str):
            raise self._odd("tokenizer_class", "a name")
        return None if value is None else value.lower().removesuffix("fast").removesuffix("tokenizer")

    def check_family(self, *known: str) -> None:
        """Refuse a class whose files look alike but are read in another way."""
        # The last two say nothing about a family: they read whatever tokenizer.json holds.
        if self.family not in (None, *known, "pretrained", "tokenizersbackend"):
            raise self._odd("tokenizer_class", f"a tokenizer of {', '.join(known)}")

    def roles(self, usual: SpecialTokens, *, known: Iterable[str]) -> SpecialTokens:
        """Roles as the settings give them, and a family's usual ones where they say nothing.

        Args:
            usual: The family's usual tokens.
            known: Every token that the vocabulary has.
        """
        vocabulary = set(known)
        found: dict[str, str | None] = {}
        for role, token in asdict(usual).items():
            named = [name for name in SETTING_NAMES[role] if name in self.values]
            chosen = next(filter(None, (spelling_of(self.values[name]) for name in named)), None) if named else token
            found[role] = chosen if chosen in vocabulary else None
        return SpecialTokens(**found)

    def check_size(self, inner: tokenizers.Tokenizer) -> None:
        """Refuse a vocabulary with more ids than its model has rows; tokens added later are often beyond them."""
        largest = max(inner.get_vocab(with_added_tokens=False).values(), default=-1)
        if self.model_size is not None and largest >= self.model_size:
            raise TextError(
                "a tokenizer that is larger than its model",
                got=f"{self.folder / _MODEL}: vocab_size {self.model_size}, but the tokenizer has the id {largest}",
                expected="a tokenizer and a model that belong together",
                advice="fetch both from one place",
            )

    def _odd(self, name: str, expected: str) -> TextError:
        return TextError(
            "a tokenizer setting that cannot be used",
            got=f"{self.folder / _CONFIG}: {name} is {self.values.get(name)!r:.60}",
            expected=expected,
        )


def read_published_settings(folder: Path) -> Settings:
    """Everything that the files beside a tokenizer say."""
    values = read_settings(folder)
    size = _object(folder / _MODEL).get("vocab_size")
    return Settings(
        folder=folder,
        values=values,
        added=_added(folder, values),
        model_size=size if isinstance(size, int) and not isinstance(size, bool) else None,
    )


def _added(folder: Path, values: Mapping[str, object]) -> tuple[Added, ...]:
    """Added tokens from both files that list them, each once; extra special tokens come last, without ids."""
    found: dict[str, Added] = {}
    described = values.get("added_tokens_decoder")
    if not isinstance(described, dict | None):
        raise _misplaced(folder / _CONFIG, "added_tokens_decoder")
    for index, token in cast(dict[str, object], described or {}).items():
        spelling = spelling_of(token)
        if not index.isdecimal() or not spelling:
            raise _misplaced(folder / _CONFIG, f"added_tokens_decoder {index!r:.40}")
        switches = cast(dict[str, Any], token) if isinstance(token, dict) else {}
        kept = {name: value for name in _SWITCHES if isinstance(value := switches.get(name), bool)}
        found[spelling] = Added(token=AddedToken(spelling, **kept), index=int(index))
    roles = {spelling_of(values.get(name)) for names in SETTING_NAMES.values() for name in names}
    for spelling, index in _object(folder / _ADDED).items():
        if isinstance(index, bool) or not isinstance(index, int) or not spelling:
            raise _misplaced(folder / _ADDED, repr(spelling)[:40])
        token = AddedToken(spelling, special=spelling in roles, normalized=False)
        found.setdefault(spelling, Added(token=token, index=index))
    extra = values.get("additional_special_tokens") or values.get("extra_special_tokens")
    for entry in cast(list[object], extra) if isinstance(extra, list) else []:
        if spelling := spelling_of(entry):
            found.setdefault(spelling, Added(token=AddedToken(spelling, special=True, normalized=False)))
    if len(found) > MAX_ADDED:
        raise _misplaced(folder / _CONFIG, f"{len(found)} added tokens")
    return tuple(sorted(found.values(), key=lambda entry: (entry.index is None, entry.index or 0)))


def _object(path: Path) -> Mapping[str, object]:
    """A JSON object, empty where there is no such file."""
    return read_object(path) if path.is_file() else {}


def _misplaced(path: Path, got: str) -> TextError:
    return TextError("added tokens that cannot be read", got=f"{path}: {got}", expected="tokens and their ids")
