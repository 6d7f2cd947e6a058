"""The charts of a run: what went down, what went up, and how fast."""

from collections.abc import Iterator, Mapping

from clearhead.figures import Figure, curves
from clearhead.training.report_contents import Points, RunContents, mapping, real

__all__ = ["charts", "named", "spelled"]

_NAMES = {"bleu": "BLEU", "chrf": "chrF", "lr": "learning rate", "bleu_lowercase": "BLEU, lowercased"}
_SHARES = frozenset({"accuracy"})
_SCORES = frozenset({"bleu", "bleu_lowercase", "chrf"})
_MOST_OTHERS = 12
# Small enough that its letters can be read where a phone shrinks it.
_SIZE = (420, 280)
_WIDE_RATIO = 10.0
_LEAST = 1e-12


def named(metric: str) -> str:
    """A metric as people write it."""
    return _NAMES.get(metric, metric.replace("_", " "))


def spelled(metric: str, value: float) -> str:
    """A metric's value as people write it."""
    if metric in _SHARES:
        return f"{value:.1%}"
    if metric in _SCORES:
        return f"{value:.2f}"
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def charts(contents: RunContents) -> Iterator[tuple[Figure, str]]:
    """Every chart for which there are numbers, and what a reader should know about it."""
    steps, judged = contents.training, _judged(contents)
    rest = [name for name in judged if name not in ("loss", "perplexity", "accuracy", "bleu", "chrf")]
    planned = [
        ("Loss", {"training": steps.get("loss"), "validation": judged.get("loss")}, _about_loss(contents)),
        ("BLEU and chrF", {"BLEU": judged.get("bleu"), "chrF": judged.get("chrf")}, ""),
        ("Perplexity", {"validation": judged.get("perplexity")}, "On what it did not learn from."),
        ("Accuracy, %", {"training": _right(steps, judged), "validation": _percent(judged.get("accuracy"))}, ""),
        *((named(name).capitalize(), {"validation": judged[name]}, "") for name in rest[:_MOST_OTHERS]),
        ("Learning rate", {"training": steps.get("lr")}, ""),
        (
            "Gradient norm",
            {"training": steps.get("gradient_norm")},
            "Before it is clipped; the greatest of each line of the log.",
        ),
        ("Tokens a second", {"training": steps.get("tokens_per_second")}, "Padding is not counted."),
    ]
    best = [each.step for each in contents.evaluations if each.best]
    for title, lines, remark in planned:
        drawn = {name: points for name, points in lines.items() if points}
        if drawn:
            events = {f"best: step {best[-1]}": best[-1]} if best and drawn.keys() != {"training"} else {}
            log_axes = "y" if title in ("Perplexity", "Gradient norm") and _is_wide(drawn) else ""
            yield curves(drawn, title=title, events=events, log_axes=log_axes, size=_SIZE), remark


def _judged(contents: RunContents) -> dict[str, Points]:
    points: dict[str, Points] = {}
    for evaluation in contents.evaluations:
        for name, value in evaluation.metrics.items():
            points.setdefault(name, []).append((float(evaluation.step), value))
    return points


def _right(steps: Mapping[str, Points], judged: Mapping[str, Points]) -> Points | None:
    """The share of right answers in training, where answers can be right: the log says 0 where they cannot."""
    found = steps.get("accuracy", [])
    return _percent(found) if "accuracy" in judged or any(value for _, value in found) else None


def _percent(points: Points | None) -> Points | None:
    return points and [(step, 100 * value) for step, value in points]


def _about_loss(contents: RunContents) -> str:
    smoothing = real(mapping(mapping(contents.run.get("config")).get("train")).get("label_smoothing"))
    return "The training loss includes label smoothing, the validation loss does not." if smoothing else ""


def _is_wide(drawn: Mapping[str, Points]) -> bool:
    values = [value for points in drawn.values() for _, value in points]
    return min(values) >= _LEAST and max(values) / min(values) >= _WIDE_RATIO
