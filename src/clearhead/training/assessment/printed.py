"""An assessment as lines to read."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len, set_cell_size

from clearhead.training.assessment.results import (
    Assessment,
    ClassificationMeasures,
    LanguageMeasures,
    LengthRow,
    Likelihood,
    MaskedMeasures,
    SimilarityMeasures,
    TranslationMeasures,
    Worst,
)

_WIDTH = 100
_NAMES = {"bleu": "BLEU", "chrf": "chrF", "spearman": "Spearman"}
_MOST_CONFUSED = 12
"""A larger table of confusion than this is only written as data."""


def printed(assessment: Assessment) -> str:
    """The whole of it, without colour."""
    findings = assessment.findings
    blank = f", {assessment.n_blank} blank ones left out" if assessment.n_blank else ""
    head = f"{assessment.model or 'a model'} on {', '.join(assessment.files)}: {assessment.task}"
    lines = [
        _visible(head),
        f"{assessment.n:,} examples{blank}, {findings.seconds:.1f} s, {assessment.per_second:.1f} a second",
        "",
        *_measures(findings.measures),
        "",
        *_by_length(findings.by_length),
    ]
    if findings.worst:
        lines += ["", f"worst, by {findings.worst_by}", *(line for one in findings.worst for line in _worst(one))]
    return "\n".join(lines)


def _measures(measures: object) -> Iterator[str]:
    match measures:
        case TranslationMeasures():
            yield from _translation(measures)
        case LanguageMeasures(likelihood=likelihood, window=window):
            yield from _likelihood(likelihood, "a token")
            yield f"  each token from at most {window:,} before it"
        case MaskedMeasures():
            yield _row("pseudo-perplexity", measures.pseudo_perplexity, "of hidden tokens")
            yield _row("accuracy", 100 * measures.accuracy, "% of hidden tokens")
            yield f"  {measures.n_hidden:,} of {measures.n_tokens:,} tokens hidden, seed {measures.seed}"
        case ClassificationMeasures():
            yield from _classification(measures)
        case SimilarityMeasures():
            yield _row("Spearman", measures.spearman, "correlation of ranks")
            yield _row("Pearson", measures.pearson, "correlation of values")
            yield from _cut(measures.n_cut)
        case _:
            raise AssertionError(f"measures of an unknown task: {type(measures).__name__}")


def _translation(measures: TranslationMeasures) -> Iterator[str]:
    scores = measures.scores
    yield _row("BLEU", scores.bleu, scores.bleu_signature)
    yield _row("BLEU lowercased", scores.bleu_lowercase, scores.lowercase_signature)
    yield _row("chrF", scores.chrf, scores.chrf_signature)
    if measures.references is not None:
        yield from _likelihood(measures.references, "a token of the references")
    reading = "each segment read as a whole" if measures.whole else "each segment read sentence by sentence"
    divided = f"; {measures.n_divided:,} had several" if measures.n_divided else ""
    yield f"  {measures.beams} beams, {reading}{divided}"
    if measures.n_unread:
        yield f"  {measures.n_unread:,} references do not fit the model's context, and count for no perplexity"


def _likelihood(likelihood: Likelihood, what: str) -> Iterator[str]:
    yield _row("perplexity", likelihood.perplexity, f"{what}, of {likelihood.n_tokens:,}")
    yield _row("", likelihood.per_word, f"a word, of {likelihood.n_words:,}")
    yield _row("", likelihood.per_character, f"a character, of {likelihood.n_characters:,}")
    yield _row("bits a byte", likelihood.bits_per_byte, f"of {likelihood.n_bytes:,} bytes")
    yield _row("accuracy", 100 * likelihood.accuracy, "% of the tokens are the likeliest")


def _classification(measures: ClassificationMeasures) -> Iterator[str]:
    yield _row("accuracy", 100 * measures.accuracy, "%")
    yield _row("macro F1", 100 * measures.macro_f1, "%")
    yield from _cut(measures.n_cut)
    yield ""
    cells = [["label", "precision", "recall", "F1", "n"]]
    for each in measures.labels:
        shares = (f"{100 * value:.1f}" for value in (each.precision, each.recall, each.f1))
        cells.append([_short(each.label, 30), *shares, f"{each.n:,}"])
    yield from _table(cells)
    if len(measures.labels) <= _MOST_CONFUSED:
        yield ""
        names = [_short(each.label, 12) for each in measures.labels]
        counts = [[f"{count:,}" for count in row] for row in measures.confusion]
        rows = [[name, *row] for name, row in zip(names, counts, strict=True)]
        yield from _table([["true \\ found", *names], *rows])


def _cut(n_cut: int) -> Iterator[str]:
    if n_cut:
        yield f"  {n_cut:,} texts are longer than the model reads, and were cut"


def _by_length(rows: Sequence[LengthRow]) -> Iterator[str]:
    names = list(rows[0].measures) if rows else []
    cells = [["words", "n", *(_NAMES.get(name, name) for name in names)]]
    for row in rows:
        values = [row.measures[name] for name in names]
        cells.append([row.words, f"{row.n:,}", *("–" if value is None else _number(value) for value in values)])
    yield from _table(cells)


def _worst(one: Worst) -> Iterator[str]:
    texts = [*one.texts, *(text for text in (one.output, one.expected) if text is not None)]
    names = ["", *[""] * (len(one.texts) - 1)]
    names += ["found"] if one.output is not None else []
    names += ["expected"] if one.expected is not None else []
    for place, (name, text) in enumerate(zip(names, texts, strict=True)):
        label = f"{one.place} ({_number(one.score)})" if place == 0 else name
        yield f"  {label:<14} {_short(text, _WIDTH - 17)}"


def _row(name: str, value: float, remark: str) -> str:
    return f"{name:<18}{_number(value):>12}  {remark}"


def _number(value: float) -> str:
    return f"{value:.4f}" if abs(value) < 2 else f"{value:,.2f}" if abs(value) < 1e9 else f"{value:.3g}"


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows whose first column stands at the left and the others at the right."""
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    for first, *rest in rows:
        numbers = [" " * (width - cell_len(cell)) + cell for cell, width in zip(rest, widths[1:], strict=True)]
        yield "  ".join([first + " " * (widths[0] - cell_len(first)), *numbers])


def _short(text: str, most: int) -> str:
    text = _visible(text)
    return text if cell_len(text) <= most else set_cell_size(text, most - 1).rstrip() + "…"


def _visible(text: str) -> str:
    """A text with what a terminal would not show, or would obey, written out."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)
