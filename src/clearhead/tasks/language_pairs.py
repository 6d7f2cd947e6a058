"""Which languages a model reads and writes, and how it is told which one is wanted.

Marian, one pair          nothing: the folder's name or its settings say the pair
Marian, several targets   a tag before the source: >>fr<<; models trained here have the same
T5                        words before the source: "translate English to German: "
"""

import re
from dataclasses import dataclass
from typing import Any

from clearhead.errors import TextError
from clearhead.tasks.language_names import NAMES, choose_language, code_of, listed
from clearhead.tasks.loaded import Loaded
from clearhead.tasks.options import task_settings

_PAIR = re.compile(r"opus-mt-(?:tc-)?(?:(?:big|base|tiny|bible-big)-)?([A-Za-z_]+)-([A-Za-z_]+)$")
_T5_TARGETS = ("de", "fr", "ro")
_ENGLISH = "en"
_GROUPS = """
    mul roa itc gem gmw gmq sla zle zls zlw bat cel fiu urj ine inc iir ira trk afa sem cau dra map poz phi bnt nic
    alv aav sit tai cpp cpf crp art
"""
"""The codes of families of languages in the names of published models."""


@dataclass(frozen=True, kw_only=True)
class Instruction:
    """How a model is told what to translate into.

    Attributes:
        prefix: Words before the source.
        tag: The id of a piece before the source.
        tasks: What the folder may call this task.
    """

    prefix: str = ""
    tag: int | None = None
    tasks: tuple[str, ...] = ("translation",)


def languages(loaded: Loaded) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The codes of the languages that a model reads, and of those that it writes; none where it is unknown."""
    loaded.require("translate")
    if loaded.tags:
        return _one(_said_pair(loaded)[0]), tuple(sorted(loaded.tags))
    if loaded.checkpoint.family == "t5":
        # The gated ones are FLAN-T5, which was taught from instructions in many languages.
        encoder = loaded.config.encoder
        every = tuple(sorted(NAMES))
        return (every, every) if encoder is not None and encoder.feedforward.gated else ((_ENGLISH,), _T5_TARGETS)
    source, target = _said_pair(loaded)
    return _one(source), _one(target)


def instruction(loaded: Loaded, *, to: str | None, source: str | None) -> Instruction:
    """How this model is told to translate into a language.

    Raises:
        TextError: A language that it does not know, or none where it knows several.
    """
    sources, targets = languages(loaded)
    origin = choose_language(source, sources, what="source") if source is not None and sources else source
    if to is None and len(targets) > 1:
        raise TextError("this model writes several languages", got="none asked for", expected=listed(targets))
    goal = choose_language(to, targets, what="target") if to is not None and targets else to
    if loaded.tags:
        return Instruction(tag=loaded.tags[goal or next(iter(targets))])
    if loaded.checkpoint.family == "t5":
        origin, goal = code_of(origin or _ENGLISH), code_of(goal or next(iter(targets)))
        if origin == goal:
            raise TextError("source and target are one language", got=NAMES[goal], expected="two languages")
        tasks = (f"translation_{origin}_to_{goal}", "translation")
        said: Any = task_settings(loaded, tasks[:1]).get("prefix")
        prefix = said if isinstance(said, str) else f"translate {NAMES[origin]} to {NAMES[goal]}: "
        return Instruction(prefix=prefix, tasks=tasks)
    return Instruction()


def _said_pair(loaded: Loaded) -> tuple[str | None, str | None]:
    """The pair that the tokenizer's settings or the model's name tell of."""
    settings = loaded.side_file("tokenizer_config.json")
    pair = [settings.get("source_lang"), settings.get("target_lang")]
    names = [loaded.name.split("@")[0], "" if loaded.folder is None else loaded.folder.name]
    named = next((found.groups() for name in names if (found := _PAIR.search(name.rstrip("/")))), (None, None))
    said = [
        one if isinstance(one, str) and one.isprintable() else other for one, other in zip(pair, named, strict=True)
    ]
    return said[0], said[1]


def _one(language: str | None) -> tuple[str, ...]:
    """A language that can be named; a group of them, such as ROMANCE, says nothing of any one."""
    return () if not language or language.isupper() or language in _GROUPS.split() else (language,)
