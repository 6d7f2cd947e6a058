"""The pipelines that read: questions, labels, gaps and features.

Each takes a loaded model, what the user gave, and the options, and gives the keys that are widely known.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from clearhead.config import HeadKind
from clearhead.engine import read
from clearhead.errors import TextError
from clearhead.tasks.foreign_values import as_items, as_record
from clearhead.tasks.labels import classify
from clearhead.tasks.loaded import Loaded
from clearhead.tasks.masks import likeliest, mask_texts
from clearhead.tasks.pipeline_options import plain_options, texts_of
from clearhead.tasks.question import answer, find_spans
from clearhead.tasks.sources import whole_texts
from clearhead.tasks.token_labels import OUTSIDE, TokenScore, grouped, name_of, token_scores
from clearhead.tasks.written import Span
from clearhead.tasks.zero_shot import zero_shot

Options = Mapping[str, Any]
Record = dict[str, Any]


def run_question_answering(loaded: Loaded, inputs: Any, options: Options) -> Any:
    """`answer`, `score`, `start` and `end` for each question with its context."""
    known = {"question": None, "context": None, "top_k": None, "topk": None, "max_answer_len": 15}
    known |= dict.fromkeys(("doc_stride", "max_seq_len", "max_question_len", "align_to_words"))
    asked = plain_options(options, known)
    n = asked["top_k"] or asked["topk"] or 1
    pairs, single = _questions(inputs, asked)
    found: list[Any] = []
    for question, context in pairs:
        if loaded.config.head.kind is HeadKind.QUESTION_ANSWERING:
            spans = find_spans(loaded, question, context, n=n, longest=asked["max_answer_len"])
            rows = [{"score": one.score, "start": one.start, "end": one.end, "answer": one.text} for one in spans]
        else:  # a sentence, or the model's own words, which stand nowhere in the context
            rows = [
                {
                    "score": one.score,
                    "start": one.start if isinstance(one, Span) else None,
                    "end": one.end if isinstance(one, Span) else None,
                    "answer": one.text,
                }
                for one in answer(loaded, question, context, n=n)
            ]
        found.append(rows[0] if n == 1 and rows else rows)
    return found[0] if single else found


def _questions(inputs: Any, asked: Mapping[str, Any]) -> tuple[list[tuple[str, str]], bool]:
    """Questions with their contexts, in any of the forms that pipelines take; whether there was one alone."""
    if inputs is None:
        questions, contexts = as_items(asked["question"]), as_items(asked["context"])
        if len(contexts) == 1:
            contexts *= len(questions)
        if len(contexts) != len(questions):
            got = f"{len(questions)} questions, {len(contexts)} contexts"
            raise TextError("questions without contexts", got=got, expected="one context for each, or for all")
        records: list[Any] = [
            {"question": one, "context": other} for one, other in zip(questions, contexts, strict=True)
        ]
        single = not isinstance(asked["question"], (list, tuple))
    else:
        records, single = as_items(inputs), isinstance(inputs, Mapping)
    pairs: list[tuple[str, str]] = []
    for record in records:
        question, context = (as_record(record).get(key) for key in ("question", "context"))
        if not isinstance(question, str) or not isinstance(context, str) or not question.strip() or not context.strip():
            raise TextError(
                "a question and a context are needed",
                got=repr(record)[:100],
                expected="question=…, context=…, both text",
            )
        pairs.append((question, context))
    return pairs, single


def run_text_classification(loaded: Loaded, inputs: Any, options: Options) -> Any:
    """`label` and `score`: the best label, or the `top_k` best, or all where that is None."""
    asked = plain_options(options, {"top_k": 1})
    texts = texts_of(inputs)
    found = [
        [{"label": one.label, "score": one.score} for one in labels]
        for labels in classify(loaded, texts, truncate=bool(options.get("truncation")))
    ]
    if "top_k" not in options:
        return [labels[0] for labels in found]
    rows = [labels[: asked["top_k"]] for labels in found]
    return rows[0] if isinstance(inputs, str) else rows


def run_zero_shot(loaded: Loaded, inputs: Any, options: Options) -> Any:
    """`sequence`, and `labels` with their `scores`, the best first."""
    asked = plain_options(options, {"candidate_labels": None, "hypothesis_template": None, "multi_label": False})
    labels: Any = asked["candidate_labels"]
    if isinstance(labels, str):
        labels = [label.strip() for label in labels.split(",")]
    if not labels:
        raise TextError("no labels to choose from", expected='candidate_labels=["sport", "politics"]')
    loaded.require("classify")
    texts = texts_of(inputs)
    scores = zero_shot(
        loaded,
        texts,
        labels,
        hypothesis=asked["hypothesis_template"],
        several=bool(asked["multi_label"]),
        truncate=bool(options.get("truncation", True)),
    )
    rows: list[Record] = []
    for text, each in zip(texts, scores, strict=True):
        order = each.argsort(descending=True, stable=True)
        named = [labels[int(place)] for place in order]
        rows.append({"sequence": text, "labels": named, "scores": [float(each[place]) for place in order]})
    return rows[0] if isinstance(inputs, str) else rows


def run_fill_mask(loaded: Loaded, inputs: Any, options: Options) -> Any:
    """`score`, `token`, `token_str` and `sequence` of the likeliest words of a gap; a list for each of several gaps."""
    asked = plain_options(options, {"top_k": 5})
    texts = texts_of(inputs)
    masked = mask_texts(loaded, texts, truncate=bool(options.get("truncation")))
    found: list[Any] = []
    for one, gaps in zip(masked, likeliest(loaded, masked, n=asked["top_k"] or 5), strict=True):
        alone = len(one.places) == 1
        rows: list[list[Record]] = []
        for place, ranked in zip(one.places, gaps, strict=True):
            records: list[Record] = []
            for index, score in ranked:
                ids = [*one.encoding.ids[:place], index, *one.encoding.ids[place + 1 :]]
                sequence = loaded.tokenizer.decode(ids, skip_special=alone)
                word = loaded.tokenizer.decode([index], skip_special=False)
                records.append({"score": score, "token": index, "token_str": word, "sequence": sequence})
            rows.append(records)
        found.append(rows[0] if alone else rows)
    return found[0] if len(texts) == 1 else found


def run_features(loaded: Loaded, inputs: Any, options: Options) -> Any:
    """The last hidden state of every token: lists of one text, its tokens and their numbers."""
    plain_options(options, {"tokenize_kwargs": None})
    loaded.require("embed")
    texts = texts_of(inputs)
    encodings = whole_texts(loaded, texts, truncate=bool(options.get("truncation")))
    found: list[Any] = [None] * len(texts)
    for reading in read(loaded.reader, encodings, pad_id=loaded.config.tokens.pad or 0):
        for row, place in enumerate(reading.places):
            hidden_SD = reading.output.hidden_BSD[row, : len(encodings[place])]
            found[place] = [hidden_SD.tolist()]  # pyright: ignore[reportUnknownMemberType]
    return found[0] if isinstance(inputs, str) else found


def run_token_classification(loaded: Loaded, inputs: Any, options: Options) -> Any:
    """`entity` or, where neighbours are joined, `entity_group`, with `score`, `word`, `start` and `end`."""
    known = {"aggregation_strategy": "none", "grouped_entities": False, "ignore_labels": [OUTSIDE]}
    asked = plain_options(options, known)
    strategy = "simple" if asked["grouped_entities"] else asked["aggregation_strategy"] or "none"
    if strategy not in ("none", "simple"):
        raise TextError("a way of joining tokens that does not exist", got=repr(strategy), expected="none or simple")
    texts = texts_of(inputs)
    rows: list[list[Record]] = []
    for tokens in token_scores(loaded, texts):
        if strategy == "simple":
            rows.append([_group(loaded, group) for group in grouped(tokens)])
        else:
            rows.append([_token(token) for token in tokens if token.label not in asked["ignore_labels"]])
    return rows[0] if isinstance(inputs, str) else rows


def _token(token: TokenScore) -> Record:
    return {
        "entity": token.label,
        "score": token.score,
        "index": token.index,
        "word": token.piece,
        "start": token.start,
        "end": token.end,
    }


def _group(loaded: Loaded, group: Sequence[TokenScore]) -> Record:
    return {
        "entity_group": name_of(group),
        "score": sum(token.score for token in group) / len(group),
        "word": loaded.tokenizer.decode([loaded.tokenizer.id_of(token.piece) for token in group]),
        "start": group[0].start,
        "end": group[-1].end,
    }


READERS: Mapping[str, Callable[[Loaded, Any, Options], Any]] = {
    "question-answering": run_question_answering,
    "text-classification": run_text_classification,
    "zero-shot-classification": run_zero_shot,
    "fill-mask": run_fill_mask,
    "feature-extraction": run_features,
    "token-classification": run_token_classification,
}
