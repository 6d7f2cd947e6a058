"""The names that headers give to what a task needs."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from clearhead.data.record import Task

__all__ = ["OPTIONAL", "REQUIRED", "Role", "is_language", "names_of"]


class Role(StrEnum):
    """What a column is for; each is an attribute of a record."""

    SOURCE = "source"
    TARGET = "target"
    LABEL = "label"
    SCORE = "score"
    TAG = "tag"


REQUIRED: Mapping[Task, tuple[Role, ...]] = MappingProxyType(
    {
        Task.TRANSLATE: (Role.SOURCE, Role.TARGET),
        Task.LANGUAGE_MODEL: (Role.SOURCE,),
        Task.MASKED_LANGUAGE_MODEL: (Role.SOURCE,),
        Task.CLASSIFY: (Role.SOURCE, Role.LABEL),
        Task.SIMILARITY: (Role.SOURCE, Role.TARGET),
    }
)
"""The roles that a task cannot do without, in the order in which columns are named."""

OPTIONAL: Mapping[Task, tuple[Role, ...]] = MappingProxyType(
    {
        Task.TRANSLATE: (Role.TAG,),
        Task.LANGUAGE_MODEL: (),
        Task.MASKED_LANGUAGE_MODEL: (),
        Task.CLASSIFY: (),
        Task.SIMILARITY: (Role.SCORE,),
    }
)
"""The roles that may follow them."""

_TEXT = ("text", "sentence", "document", "content", "story", "review", "line", "source")
_NAMES: Mapping[Task, Mapping[Role, tuple[str, ...]]] = MappingProxyType(
    {
        Task.TRANSLATE: {
            Role.SOURCE: ("source", "src", "source_text", "input"),
            Role.TARGET: ("target", "tgt", "trg", "target_text", "translation", "output"),
            Role.TAG: ("tag", "language", "lang", "target_language", "target_lang"),
        },
        Task.LANGUAGE_MODEL: {Role.SOURCE: _TEXT},
        Task.MASKED_LANGUAGE_MODEL: {Role.SOURCE: _TEXT},
        Task.CLASSIFY: {
            Role.SOURCE: _TEXT,
            Role.LABEL: ("label", "labels", "class", "category", "sentiment", "intent"),
        },
        Task.SIMILARITY: {
            Role.SOURCE: ("sentence1", "sentence_1", "text1", "s1", "anchor", "query", "question1", "source"),
            Role.TARGET: ("sentence2", "sentence_2", "text2", "s2", "positive", "answer", "question2", "target"),
            Role.SCORE: ("score", "similarity", "similarity_score", "label"),
        },
    }
)

_LANGUAGE_NAMES = (
    "arabic bengali chinese czech danish dutch english finnish french german greek hebrew hindi hungarian indonesian "
    "italian japanese korean norwegian polish portuguese romanian russian spanish swedish turkish ukrainian urdu "
    "vietnamese"
)
# ISO 639-1.
_LANGUAGE_CODES = (
    "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en "
    "eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv "
    "ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne "
    "ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st "
    "su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu"
)

_LANGUAGES = frozenset(f"{_LANGUAGE_NAMES} {_LANGUAGE_CODES}".split())


def names_of(task: Task, role: Role) -> tuple[str, ...]:
    """The names that a header may give to a role, the most telling first."""
    return _NAMES[task].get(role, ())


def is_language(name: str) -> bool:
    """Whether a name is that of a language: en, pt-br, French."""
    code = name.strip().casefold().replace("_", "-").partition("-")[0]
    return code in _LANGUAGES
