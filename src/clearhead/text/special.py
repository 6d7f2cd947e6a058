"""Special tokens by what they are for: padding, unknown, start, end, mask.

Takes: spellings, or the files beside a tokenizer.json that say which token has which role.
Gives: SpecialTokens (spellings by role) and SpecialIds (ids by role).
Uses:  errors, files.
Never: a role that the tokenizer's own vocabulary does not know.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from clearhead.errors import TextError
from clearhead.text.files import read_bounded

__all__ = [
    "BERT_TOKENS",
    "PLAIN_TOKENS",
    "SETTING_NAMES",
    "SpecialIds",
    "SpecialTokens",
    "guess_roles",
    "read_object",
    "read_roles",
    "read_settings",
    "role_settings",
    "spelling_of",
]

_MAX_SETTINGS_BYTES = 16 * 2**20


@dataclass(frozen=True, kw_only=True)
class SpecialTokens:
    """The spelling of each special token; None where there is none. Two roles may share a token."""

    pad: str | None = None
    unknown: str | None = None
    start: str | None = None
    end: str | None = None
    mask: str | None = None

    def spellings(self) -> list[str]:
        """Every spelling once, in the order of the roles."""
        given = (self.pad, self.unknown, self.start, self.end, self.mask)
        return list(dict.fromkeys(token for token in given if token is not None))


@dataclass(frozen=True, kw_only=True)
class SpecialIds:
    """The id of each special token; None where there is none."""

    pad: int | None = None
    unknown: int | None = None
    start: int | None = None
    end: int | None = None
    mask: int | None = None


PLAIN_TOKENS = SpecialTokens(pad="<pad>", unknown="<unk>", start="<s>", end="</s>", mask="<mask>")
BERT_TOKENS = SpecialTokens(pad="[PAD]", unknown="[UNK]", start="[CLS]", end="[SEP]", mask="[MASK]")

# Published tokenizers, most common spelling first; GPT-2 uses one token as start and as end.
_SPELLINGS = {
    "pad": ("<pad>", "[PAD]", "<|pad|>", "<|finetune_right_pad_id|>"),
    "unknown": ("<unk>", "[UNK]"),
    "start": ("<s>", "[CLS]", "<bos>", "<|begin_of_text|>", "<|startoftext|>", "<|endoftext|>"),
    "end": ("</s>", "[SEP]", "<eos>", "<|end_of_text|>", "<|endoftext|>"),
    "mask": ("<mask>", "[MASK]"),
}

# The names that the settings files of published tokenizers use, the first that is there wins.
SETTING_NAMES = {
    "pad": ("pad_token",),
    "unknown": ("unk_token",),
    "start": ("bos_token", "cls_token"),
    "end": ("eos_token", "sep_token"),
    "mask": ("mask_token",),
}


def guess_roles(is_special: Callable[[str], bool]) -> SpecialTokens:
    """Roles by the spellings that published tokenizers use, where `is_special` knows them."""
    return SpecialTokens(
        **{role: next(filter(is_special, spellings), None) for role, spellings in _SPELLINGS.items()},
    )


def read_settings(folder: Path) -> dict[str, object]:
    """Everything that the settings files in a folder say; the second file wins over the first."""
    settings: dict[str, object] = {}
    for name in ("special_tokens_map.json", "tokenizer_config.json"):
        path = folder / name
        if path.is_file():
            settings |= read_object(path)
    return settings


def read_roles(folder: Path, is_known: Callable[[str], bool]) -> SpecialTokens | None:
    """Roles as the settings files in a folder give them, or None where they give none."""
    settings = read_settings(folder)
    roles: dict[str, str | None] = {}
    for role, names in SETTING_NAMES.items():
        tokens = (spelling_of(settings.get(name)) for name in names)
        roles[role] = next((token for token in tokens if token is not None and is_known(token)), None)
    return SpecialTokens(**roles) if any(roles.values()) else None


def role_settings(tokens: SpecialTokens) -> dict[str, object]:
    """The settings file that tells other programs the roles."""
    named = {SETTING_NAMES[role][0]: token for role, token in asdict(tokens).items() if token is not None}
    return {"tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": False, **named}


def read_object(path: Path) -> Mapping[str, object]:
    """A small JSON file that holds an object."""
    try:
        content: Any = json.loads(read_bounded(path, limit=_MAX_SETTINGS_BYTES))
    except (ValueError, RecursionError) as error:
        raise TextError("a tokenizer's settings that are not JSON", got=f"{path}: {error}") from None
    if not isinstance(content, dict):
        raise TextError("a tokenizer's settings that are not a JSON object", got=path)
    return cast(dict[str, object], content)


def spelling_of(value: object) -> str | None:
    """A token's spelling: settings write it plainly, or as an object that holds it."""
    if isinstance(value, dict):
        value = cast(dict[str, object], value).get("content")
    return value if isinstance(value, str) else None
