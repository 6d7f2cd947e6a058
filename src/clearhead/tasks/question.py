"""Answers: a span or a sentence of a passage where the model reads, a text of its own where it writes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from clearhead.config import Family, HeadKind
from clearhead.engine import read
from clearhead.errors import DecodingError, TextError
from clearhead.tasks.completion import continuations
from clearhead.tasks.conversation import chat_prompt
from clearhead.tasks.loaded import Loaded
from clearhead.tasks.nearness import answer_sentences
from clearhead.tasks.sources import prompt_ids, source_ids
from clearhead.tasks.written import Span, Written
from clearhead.text import Encoding
from clearhead.text.passages import split_passages
from clearhead.text.words import check_text

_LONGEST_WINDOW = 384
_OVERLAP = 128
_LONGEST_ANSWER = 15
_MOST_ANSWERS = 1000
_MOST_SPANS_A_WORD = 8
_CONTINUED = "##"
"""How WordPiece marks a piece that goes on with the word before it."""


def answer(
    loaded: Loaded, question: str, passage: str | None = None, *, n: int = 1, **options: Any
) -> list[Span] | list[Written]:
    """Answers a question, from a passage where there is one.

    A model with a question-answering head finds spans of whole words; a passage that is longer than its window is
    read in windows that overlap. Other encoders find the sentences that are nearest in meaning. Models that write
    write the answer; a passage that is too long for them is read in pieces, and the likeliest answers count.

    Args:
        loaded: The model.
        question: The question.
        passage: Where to look; an encoder needs one.
        n: How many answers, the best first.
        **options: For spans, `longest`: how many tokens an answer may have. Otherwise how to decode.

    Raises:
        ConfigError: A model that does not answer.
        TextError: An empty question or passage.
    """
    loaded.require("answer")
    for name, text in (("question", question), ("passage", passage)):
        if text is not None and not check_text(text).strip():
            raise TextError(f"an empty {name}", got=repr(text[:60]), expected="some text")
    if not 1 <= n <= _MOST_ANSWERS:
        raise TextError("an impossible number of answers", got=n, expected=f"1 to {_MOST_ANSWERS}")
    if loaded.config.family is not Family.ENCODER_ONLY:
        return _written(loaded, question, passage, n=n, **options)
    if passage is None:
        raise TextError("a passage is needed", got="a question alone", expected="the text that holds the answer")
    by_head = loaded.config.head.kind is HeadKind.QUESTION_ANSWERING
    longest = options.pop("longest", None) if by_head else None
    if unknown := [name for name, value in options.items() if value is not None]:
        raise DecodingError(
            "this model finds its answers, and does not write them",
            got=", ".join(unknown),
            expected="longest" if by_head else "no options",
        )
    if not by_head:
        return answer_sentences(loaded, question, passage, n=n)
    return find_spans(loaded, question, passage, n=n, longest=_LONGEST_ANSWER if longest is None else longest)


def find_spans(
    loaded: Loaded, question: str, passage: str, *, n: int = 1, longest: int = _LONGEST_ANSWER
) -> list[Span]:
    """The likeliest spans of a passage, none of them twice.

    Start and end are each a softmax over the passage's tokens in a window, and over the first token, which stands
    for no answer.
    """
    if longest < 1:
        raise TextError("answers without a single token", got=f"longest={longest}", expected="1 or more")
    found: dict[tuple[int, int], float] = {}
    windows = list(_windows(loaded, question, passage))
    for reading in read(loaded.reader, windows, pad_id=loaded.config.tokens.pad or 0):
        assert reading.output.logits is not None
        for row, place in enumerate(reading.places):
            window = windows[place]
            logits_S2 = reading.output.logits[row, : len(window)]
            for score, first, last in _best_spans(logits_S2, window, n=n, longest=longest):
                span = _whole_words(window, first, last)
                found[span] = max(score, found.get(span, 0.0))
    best = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:n]
    return [Span(text=passage[start:end], score=score, start=start, end=end) for (start, end), score in best]


def _windows(loaded: Loaded, question: str, passage: str) -> Iterator[Encoding]:
    whole = loaded.tokenizer.encode_pair(question, passage, literal=True)
    inside = _places(whole)
    if not inside:
        raise TextError("a passage without a single token", got=repr(passage[:60]), expected="some text")
    first, last = inside[0], inside[-1] + 1
    room = min(_LONGEST_WINDOW, loaded.source_limit) - first - (len(whole) - last)
    if room < 1:
        raise TextError(
            "a question that leaves no room for the passage",
            got=f"{first} tokens",
            expected=f"fewer than {min(_LONGEST_WINDOW, loaded.source_limit)}",
            advice="a shorter question",
        )
    step = room - min(_OVERLAP, room // 2)
    start = first
    while True:
        end = min(start + room, last)
        yield _cut(whole, [*range(first), *range(start, end), *range(last, len(whole))])
        if end == last:
            return
        start += step


def _places(encoding: Encoding) -> list[int]:
    """Where the tokens of the passage are."""
    pairs = enumerate(zip(encoding.segments, encoding.special, encoding.offsets, strict=True))
    return [place for place, (segment, special, span) in pairs if segment and not (special and span == (0, 0))]


def _cut(whole: Encoding, places: Sequence[int]) -> Encoding:
    return Encoding(
        ids=tuple(whole.ids[place] for place in places),
        pieces=tuple(whole.pieces[place] for place in places),
        offsets=tuple(whole.offsets[place] for place in places),
        special=tuple(whole.special[place] for place in places),
        segments=tuple(whole.segments[place] for place in places),
    )


def _best_spans(
    logits_S2: Float[Tensor, "S 2"], window: Encoding, *, n: int, longest: int
) -> list[tuple[float, int, int]]:
    """The likeliest spans of a window: score, first token, last token."""
    inside = torch.zeros(len(window), dtype=torch.bool)
    inside[_places(window)] = True
    counted = inside.clone()
    counted[0] = True
    chances_S2 = logits_S2.float().masked_fill(~counted.unsqueeze(1), -torch.inf).softmax(0)
    chances_S2 = chances_S2 * inside.unsqueeze(1)
    pairs = (chances_S2[:, 0].unsqueeze(1) * chances_S2[:, 1]).triu().tril(longest - 1)
    # Several spans may be the same whole words.
    best = pairs.flatten().topk(min(_MOST_SPANS_A_WORD * n, pairs.numel()))
    spans = [divmod(int(place), len(window)) for place in best.indices]
    scores = [float(score) for score in best.values]
    return [
        (score, first, last)
        for score, (first, last) in zip(scores, spans, strict=True)
        if first <= last < first + longest and inside[first] and inside[last]
    ]


def _whole_words(window: Encoding, first: int, last: int) -> tuple[int, int]:
    """The characters of a span, with the rest of the words at its ends."""
    while window.pieces[first].startswith(_CONTINUED) and window.offsets[first - 1][1] == window.offsets[first][0]:
        first -= 1
    while last + 1 < len(window) and window.pieces[last + 1].startswith(_CONTINUED):
        last += 1
    return window.offsets[first][0], window.offsets[last][1]


def _written(loaded: Loaded, question: str, passage: str | None, *, n: int, **options: Any) -> list[Written]:
    """Answers in the model's own words."""
    prompts = _prompts(loaded, question, passage)
    asked = {"sample": False, **options}
    if loaded.config.family is Family.DECODER_ONLY and loaded.tokenizer.chat_template is None:
        asked.setdefault("stop", None if n > 1 or (options.get("beams") or 1) > 1 else ["\n"])
    found = continuations(loaded, prompts, n=n, scored=True, **asked)
    every = [way for ways in found for way in ways]
    # Of the same answer from two pieces, the likelier.
    best: dict[str, Written] = {}
    for way in sorted(every, key=_likelihood, reverse=True):
        best.setdefault(way.text.strip(), replace(way, text=way.text.strip()))
    return list(best.values())[:n]


def _likelihood(written: Written) -> float:
    """The mean log-probability of a piece; the score of beams is such a mean already."""
    each = written.log_probabilities
    return sum(each) / len(each) if each else written.score or 0.0


def _prompts(loaded: Loaded, question: str, passage: str | None) -> list[tuple[int, ...]]:
    if loaded.config.family is Family.ENCODER_DECODER:
        if passage is None:
            return source_ids(loaded, [question])
        prefix = f"question: {question} context: "
        return source_ids(loaded, _pieces(loaded, passage, prefix), prefix=prefix)
    before = "" if passage is None else f"{passage.rstrip()}\n\n"
    if loaded.tokenizer.chat_template is not None:
        return [chat_prompt(loaded, [{"role": "user", "content": f"{before}{question}"}])]
    return [prompt_ids(loaded, f"{before}Question: {question}\nAnswer:")]


def _pieces(loaded: Loaded, passage: str, prefix: str) -> list[str]:
    return split_passages(
        passage,
        limit=loaded.source_limit,
        length=lambda piece: len(source_ids(loaded, [piece], prefix=prefix)[0]),
    )
