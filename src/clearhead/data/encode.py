"""Records as rows of ids, framed as the model of their task reads them.

Takes: records and a tokenizer.
Gives: ids for each field of a token store.
Uses:  config, errors, text, data.{record,report,tags}.
Never: a text's own `</s>` taken for the end of it; what a corpus says is literal.

    task                    fields            each row
    translate               source, target    [tag] [prefix] ids </s>, and ids </s>; a pair that is too long is dropped
    language-model          text              ids </s>, of any length; no end where the next record goes on
    masked-language-model   text              [CLS] ids [SEP]; a long text gives several rows
    classify, similarity    text, or pairs    [CLS] ids [SEP]; a long text is cut short

The tokens around a row are those that the tokenizer itself puts around a text; where a task needs an end and the
tokenizer adds none, it is added here. A translator is told its target language as it is told when it translates: by a
tag where its vocabulary has tags, or by the words that its makers chose.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from clearhead.config.checks import require_size
from clearhead.data.record import Record, Task
from clearhead.data.report import Reason
from clearhead.data.tags import read_tag, spell_tag
from clearhead.errors import ConfigError, TextError
from clearhead.text.tokenizer import Tokenizer

__all__ = ["Encoded", "Part", "Prefix", "RecordEncoder"]

Prefix = Callable[[str | None], str]
"""What gives the words before a source, by the target language; None where no language is named."""

_MOST_CHARACTERS_A_TOKEN = 32
"""More of a text than this many characters for each token is not even read, where it would be cut short anyway."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """A record, and whether a text begins and ends with it."""

    record: Record
    starts: bool = True
    ends: bool = True


@dataclass(frozen=True, kw_only=True)
class Encoded:
    """The rows that a record makes.

    Attributes:
        rows: The ids of each field; mostly one row.
        fault: Why there is none.
        truncated: Whether a text was cut short.
    """

    rows: list[dict[str, list[int]]] = field(default_factory=list[dict[str, list[int]]])
    fault: Reason | None = None
    truncated: bool = False


@dataclass(frozen=True, kw_only=True)
class _Frame:
    """What stands before and after a text's own ids."""

    before: list[int]
    after: list[int]

    def around(self, ids: Sequence[int]) -> list[int]:
        return [*self.before, *ids, *self.after]

    def __len__(self) -> int:
        return len(self.before) + len(self.after)


class RecordEncoder:
    """What turns records into rows.

    Args:
        task: What the rows are for.
        tokenizer: Reads sources; its `target` reads translations.
        max_length: The most ids that a row may have.
        tags: The target languages of a translation, where records name them.
        paired: Whether records of a similarity task have a target.
        prefix: Gives the words before the sources of a translation, where these take the place of tags.
    """

    def __init__(
        self,
        *,
        task: Task,
        tokenizer: Tokenizer,
        max_length: int,
        tags: Collection[str] = (),
        paired: bool = True,
        prefix: Prefix | None = None,
    ) -> None:
        require_size("max_length", max_length)
        self._task = task
        self._max_length = max_length
        names = ["text"]
        if task in (Task.TRANSLATE, Task.SIMILARITY):
            names = ["source", "target"] if paired else ["source"]
        written = tokenizer.target if task is Task.TRANSLATE else tokenizer
        self._tokenizers = {name: written if name == "target" else tokenizer for name in names}
        ended = task in (Task.TRANSLATE, Task.LANGUAGE_MODEL)
        self._frames = {name: _frame(each, ended=ended) for name, each in self._tokenizers.items()}
        if task is Task.TRANSLATE:  # what starts a target is the model's own affair
            self._frames["target"] = _Frame(before=[], after=self._frames["target"].after)
        longest = max(map(len, self._frames.values()))
        if max_length <= longest:
            raise ConfigError("a length without room for text", got=max_length, expected=f"more than {longest}")
        self._tags: dict[str, int] = {}
        self._prefixes: dict[str | None, str] = {}
        if task is Task.TRANSLATE and prefix is not None:
            self._prefixes = {tag: prefix(tag) for tag in tags or (None,)}
        elif task is Task.TRANSLATE:
            self._tags = _tag_ids(tokenizer, tags)

    @property
    def fields(self) -> Mapping[str, int]:
        """The vocabulary size of each field."""
        return {name: tokenizer.vocab_size for name, tokenizer in self._tokenizers.items()}

    def __call__(self, parts: Sequence[Part]) -> list[Encoded]:
        """The rows of many records; the tokenizer works on them in parallel."""
        bodies: dict[str, list[tuple[int, ...]]] = {}
        for name, tokenizer in self._tokenizers.items():
            texts = [(part.record.target or "") if name == "target" else self._source(part.record) for part in parts]
            if self._task in (Task.CLASSIFY, Task.SIMILARITY):
                texts = [text[: self._max_length * _MOST_CHARACTERS_A_TOKEN] for text in texts]
            found = tokenizer.encode_batch(texts, add_special=False, literal=True)
            bodies[name] = [each.ids for each in found]
        return [self._one(part, {name: ids[place] for name, ids in bodies.items()}) for place, part in enumerate(parts)]

    def _source(self, record: Record) -> str:
        return self._prefixes.get(record.tag, "") + record.source

    def _one(self, part: Part, body: Mapping[str, Sequence[int]]) -> Encoded:
        if self._task is Task.LANGUAGE_MODEL:
            return self._running(part, body["text"])
        if not all(body.values()):
            return Encoded(fault=Reason.EMPTY)
        if self._task is Task.TRANSLATE:
            row = {name: self._frames[name].around(ids) for name, ids in body.items()}
            if self._tags:
                row["source"].insert(0, self._tags[part.record.tag or ""])
            if max(map(len, row.values())) > self._max_length:
                return Encoded(fault=Reason.TOO_MANY_TOKENS)
            return Encoded(rows=[row])
        if self._task is Task.MASKED_LANGUAGE_MODEL:
            frame, ids = self._frames["text"], body["text"]
            room = self._max_length - len(frame)
            starts = range(0, len(ids), room)
            return Encoded(rows=[{"text": frame.around(ids[start : start + room])} for start in starts])
        room = {name: self._max_length - len(self._frames[name]) for name in body}
        row = {name: self._frames[name].around(ids[: room[name]]) for name, ids in body.items()}
        return Encoded(rows=[row], truncated=any(len(ids) > room[name] for name, ids in body.items()))

    def _running(self, part: Part, body: Sequence[int]) -> Encoded:
        """A text, or a part of one; a part without pieces still starts or ends its text."""
        if not body and part.starts and part.ends:
            return Encoded(fault=Reason.EMPTY)
        frame = self._frames["text"]
        ids = [*(frame.before if part.starts else []), *body, *(frame.after if part.ends else [])]
        return Encoded(rows=[{"text": ids}] if ids else [])


def _tag_ids(tokenizer: Tokenizer, tags: Collection[str]) -> dict[str, int]:
    """The piece of each target language; none where the vocabulary has no such pieces and one language needs none."""
    pieces = (tokenizer.piece_of(index) for index in range(tokenizer.vocab_size))
    known = {tag: index for index, piece in enumerate(pieces) if (tag := read_tag(piece)) is not None}
    if known and not tags:
        raise TextError(
            "examples that do not say their target language",
            got="a tokenizer that has a tag for each",
            expected=", ".join(sorted(known)),
            advice="name it, as in pairs.tsv@to=fr, or in a column named tag",
        )
    missing = [spell_tag(tag) for tag in tags if tag not in known]
    if missing and (known or len(tags) > 1):
        raise TextError(
            "a target language that is not in the vocabulary",
            got=", ".join(missing),
            expected=", ".join(sorted(known)) or "a tokenizer with a tag for each of several languages",
        )
    return {} if missing else {tag: known[tag] for tag in tags}


def _frame(tokenizer: Tokenizer, *, ended: bool) -> _Frame:
    """What a tokenizer puts around a text, with an end where one is needed."""
    bare = tokenizer.encode("a", add_special=False).ids
    whole = tokenizer.encode("a").ids
    places = range(len(whole) - len(bare) + 1)
    start = next(place for place in places if whole[place : place + len(bare)] == bare)
    before, after = list(whole[:start]), list(whole[start + len(bare) :])
    end = tokenizer.special.end
    if ended and end is None:
        raise TextError("a tokenizer without an end token", expected="one that ends every text, such as </s>")
    if ended and end is not None and end not in after:
        after.append(end)
    return _Frame(before=before, after=after)
