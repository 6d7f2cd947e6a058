"""The report of a run shows what its folder holds, loads nothing, and survives whatever the folder lacks."""

import json
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from clearhead.data import CleaningReport, Record, Task
from clearhead.data.report import Reason
from clearhead.errors import TrainingError
from clearhead.training import MetricsLog
from clearhead.training.assessment.results import Assessment, Findings, LengthRow, SimilarityMeasures
from clearhead.training.report import write_report
from clearhead.training.report_html import Markup, element

NASTY = "<script>alert('x')</script> & \"y\" \0 \ud800 हिन्दी"


class Page(HTMLParser):
    """What a browser would make of a page: its elements, what they load, and its text."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loads: list[str] = []
        self.text = ""
        self.source = path.read_text(encoding="utf-8")
        self.feed(self.source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loads += [name for name, _ in attrs if name in ("src", "href", "xlink:href", "srcset", "action")]
        self.loads += [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.text += data

    @property
    def charts(self) -> dict[str, ET.Element]:
        """The charts by their titles."""
        pieces = self.source.split("<svg ")[1:]
        roots = [ET.fromstring("<svg " + piece.split("</svg>")[0] + "</svg>") for piece in pieces]  # noqa: S314
        return {root.attrib["aria-label"]: root for root in roots}


def write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A folder as a finished run leaves it."""
    folder = tmp_path / "english-german"
    folder.mkdir()
    log, samples = MetricsLog(path=folder / "metrics.jsonl"), MetricsLog(path=folder / "samples.jsonl")
    for step in range(10, 310, 10):
        line = {"step": step, "loss": 90 / step, "accuracy": step / 400, "lr": step * 1e-6}
        log.append({**line, "gradient_norm": 1.5, "tokens_per_second": 5000.0, "seconds": step / 2})
        if step % 100 == 0:
            metrics = {"loss": 95 / step, "perplexity": 9000 / step, "accuracy": 0.25, "bleu": step / 10, "chrf": 40.0}
            log.append({"step": step, "evaluation": metrics, "best": step != 300})
            for source in ("A cat.", "A dog."):
                samples.append({"step": step, "source": source, "output": f"Ein {step}.", "expected": "Ein Tier."})
    cleaning = CleaningReport()
    for _ in range(7):
        cleaning.keep()
    for source in ("twice", "thrice"):
        cleaning.drop(Reason.DUPLICATE, Record(source=source, target="doppelt"))
    summary = {"task": "translate", "status": "completed", "steps": 300, "seconds": 131.0, "best_step": 200}
    summary |= {"metrics": {"bleu": 20.0, "perplexity": 45.0, "accuracy": 0.25}, "parameters": 607_287}
    summary |= {"vocabulary": 5751, "examples": {"train": 475, "validation": 25}, "padding": 0.1766}
    write_json(folder / "summary.json", {**summary, "cleaning": cleaning.to_dict()})
    files = [{"files": [{"name": "pairs.tsv", "size": 31_053, "sha256": "ab" * 32}]}]
    config = {"train": {"label_smoothing": 0.1}}
    write_json(folder / "run.json", {"clearhead": "9.9", "threads": 2, "config": config, "data": {"train": files}})
    (folder / "config.yaml").write_text("train:\n  lr: 0.001\n", encoding="utf-8")
    by_length = [{"from": 1, "to": 10, "n": 120, "bleu": 41.2}, {"from": 11, "to": None, "n": 30, "bleu": 20.6}]
    write_json(folder / "evaluation.json", {"by_length": by_length, "signature": "tok:13a"})
    return folder


def report(folder: Path) -> Page:
    path = write_report(folder)
    assert path == folder / "report.html"
    return Page(path)


def test_the_page_is_alone(run: Path) -> None:
    page = report(run)
    assert page.loads == []
    assert not {"script", "link", "iframe", "img"} & set(page.tags)
    assert "url(" not in page.source and "@import" not in page.source
    assert "default-src &#x27;none&#x27;" in page.source
    assert sorted(path.name for path in run.iterdir() if path.suffix == ".tmp") == []


def test_every_curve_is_drawn(run: Path) -> None:
    charts = report(run).charts
    assert list(charts) == [
        "Loss",
        "BLEU and chrF",
        "Perplexity",
        "Accuracy, %",
        "Learning rate",
        "Gradient norm",
        "Tokens a second",
    ]
    n_lines = {title: ET.tostring(root).count(b"chart-series") for title, root in charts.items()}
    assert n_lines["Loss"] == n_lines["BLEU and chrF"] == n_lines["Accuracy, %"] == 2
    loss = "".join(charts["Loss"].itertext())
    assert "training" in loss and "validation" in loss and "best: step 200" in loss
    assert "best" not in "".join(charts["Learning rate"].itertext())


def test_the_head_says_how_it_ended(run: Path) -> None:
    text = report(run).text
    for part in (
        "english-german",
        "This run finished after 300 steps. It took 2 min 11 s.",
        "20.00",
        "25.0%",
        "607,287",
    ):
        assert part in text


def test_samples_are_those_of_the_best_step_with_the_others_beside(run: Path) -> None:
    page = report(run)
    assert "What the model of step 200 writes" in page.text
    assert page.source.count('<dd class="prose output" dir="auto">Ein 200.</dd>') == 2
    assert page.text.count("Ein 100.") == page.text.count("Ein 300.") == 2


def test_quality_by_length_and_cleaning_are_tables_with_bars(run: Path) -> None:
    page = report(run)
    for part in ("1–10", "11 and more", "41.20", "tok:13a", "7 of 9 examples were kept", "twice | doppelt"):
        assert part in page.text
    assert page.source.count("calc(100.0% * .7)") == 2
    assert page.source.count("calc(50.0% * .7)") == 1


def test_an_assessment_is_read_as_it_is_written(run: Path) -> None:
    rows = (
        LengthRow(least=1, most=8, n=5, measures={"accuracy": 0.75}),
        LengthRow(least=9, most=None, n=4, measures={"accuracy": None}),
        LengthRow(least=9, most=9, n=3, measures={"accuracy": 0.5}),
    )
    measures = SimilarityMeasures(spearman=0.8125, pearson=0.7, n_cut=3)
    findings = Findings(measures=measures, by_length=rows, worst=(), worst_by="distance", seconds=2.0)
    found = Assessment(model="m", task=Task.SIMILARITY, files=("a.tsv",), n=12, n_blank=0, findings=findings)
    write_json(run / "evaluation.json", found.to_dict())
    text = report(run).text
    for part in ("1–8", "75.0%", "50.0%", "spearman", "0.8125"):
        assert part in text


def test_settings_and_data_are_there(run: Path) -> None:
    text = report(run).text
    for part in ("lr: 0.001", "pairs.tsv", "31,053 bytes", "abababababababab", "9.9", "label smoothing"):
        assert part in text


def test_everything_from_files_is_escaped(run: Path) -> None:
    log, samples = MetricsLog(path=run / "metrics.jsonl"), MetricsLog(path=run / "samples.jsonl")
    log.append({"step": 301, "evaluation": {NASTY: 1.0}, "best": True})
    samples.append({"step": 200, "source": NASTY, "output": NASTY, "expected": NASTY})
    summary = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    summary |= {"task": NASTY, "metrics": {NASTY: 1}}
    summary["cleaning"] |= {"dropped": {NASTY: 1}, "examples": {NASTY: [NASTY]}}
    write_json(run / "summary.json", summary)
    write_json(run / "evaluation.json", {"by_length": [{"from": 1, NASTY: 2}], NASTY: NASTY})
    files = [{"files": [{"name": NASTY, "size": NASTY, "sha256": NASTY}]}]
    write_json(run / "run.json", {"clearhead": NASTY, "torch": NASTY, "threads": NASTY, "data": {"train": files}})
    (run / "config.yaml").write_bytes(b"<script>\xff")
    nasty = run.rename(run.parent / "<script>&'")
    page = report(nasty)
    assert "script" not in page.tags
    assert page.loads == []
    assert page.text.count("alert('x')") >= 12
    assert len(page.charts) == 8
    assert "\0" not in page.source


def test_a_run_that_has_not_finished(run: Path) -> None:
    (run / "summary.json").unlink()
    (run / "evaluation.json").unlink()
    page = report(run)
    assert "has not finished: 300 steps so far" in page.text
    assert "There is no summary.json in the folder." in page.text
    assert "perplexity" in page.text
    assert "What the model of step 300 writes" in page.text


@pytest.mark.parametrize(("task", "is_said"), [("translate", True), ("classify", False)])
def test_quality_by_length_is_missed_only_in_translators(run: Path, task: str, is_said: bool) -> None:
    (run / "evaluation.json").unlink()
    write_json(run / "summary.json", {"task": task})
    assert ("There is no evaluation.json in the folder." in report(run).text) is is_said


def test_lines_that_a_crash_left_are_counted(run: Path) -> None:
    with (run / "metrics.jsonl").open("a", encoding="utf-8") as stream:
        stream.write('{"step": 300, "lo')
    assert "metrics.jsonl has damaged lines, which are left out: 1." in report(run).text


@pytest.mark.parametrize("name", ["config.yaml", "run.json", "metrics.jsonl", "samples.jsonl", "summary.json"])
def test_what_is_missing_is_said(run: Path, name: str) -> None:
    (run / name).unlink()
    assert f"There is no {name} in the folder." in report(run).text


HARM: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "bytes": lambda path: path.write_bytes(bytes(range(256)) * 10),
    "cut": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "list": lambda path: path.write_bytes(b"[1, 2]"),
    "deep": lambda path: path.write_bytes(b"[" * 50_000),
    "long": lambda path: path.write_bytes(b'{"step": 1, "source": "' + b"x" * 2**19),
    "wrong types": lambda path: write_json(path, {key: ["a", {"b": [None]}] for key in KEYS}),
    "objects": lambda path: write_json(path, {key: {"train": {"files": 3}, "kept": "x"} for key in KEYS}),
    "texts": lambda path: write_json(path, dict.fromkeys(KEYS, "text")),
    "negative": lambda path: write_json(path, dict.fromkeys(KEYS, -1)),
    "infinite": lambda path: path.write_bytes(json.dumps(dict.fromkeys(KEYS, 0)).replace("0", "1e999").encode()),
    "huge": lambda path: path.write_bytes(json.dumps(dict.fromkeys(KEYS, 10**4000)).encode()),
    "not numbers": lambda path: path.write_bytes(b'{"step": 1, "loss": NaN, "lr": Infinity, "accuracy": true}'),
    "infinite counts": lambda path: path.write_bytes(b'{"step": 1, "cleaning": {"kept": 1e999, "truncated": 0}}'),
    "odd rows": lambda path: write_json(path, {"step": 1, "by_length": [1, {"from": 1}, {"from": "a", "bleu": {}}]}),
    "folder": lambda path: (path.unlink(), path.mkdir()),
}
KEYS = (
    *("step", "loss", "lr", "evaluation", "best", "source", "output", "expected", "task", "status", "steps"),
    *(
        "seconds",
        "best_step",
        "metrics",
        "parameters",
        "examples",
        "padding",
        "cleaning",
        "by_length",
        "config",
        "data",
    ),
)


NAMES = ["config.yaml", "run.json", "metrics.jsonl", "samples.jsonl", "summary.json", "evaluation.json"]
HEADINGS = ["Curves", "Samples", "Quality by sentence length", "Cleaning", "Settings and data"]


def headings(page: Page) -> list[str]:
    return [part.split("<")[0] for part in page.source.split("<h2>")[1:]]


@pytest.mark.parametrize("harm", HARM)
def test_a_run_whose_every_file_is_damaged(run: Path, harm: str) -> None:
    for name in NAMES:
        HARM[harm](run / name)
    page = report(run)
    assert page.loads == []
    assert headings(page) == [name for name in HEADINGS if harm != "folder" or "length" not in name]
    if harm in ("empty", "bytes", "list", "deep", "long", "folder"):
        assert page.charts == {}
        assert "metrics.jsonl" in page.text


@pytest.mark.parametrize("name", NAMES)
def test_one_damaged_file_spoils_no_other_part(run: Path, name: str) -> None:
    HARM["bytes"](run / name)
    page = report(run)
    assert headings(page) == HEADINGS
    said = {"samples.jsonl": "Ein 300.", "evaluation.json": "41.20", "run.json": "pairs.tsv"}
    said |= {"summary.json": "7 of 9", "config.yaml": "lr: 0.001"}
    for file, part in said.items():
        assert (part in page.text) is (file != name)
    assert bool(page.charts) is (name != "metrics.jsonl")


def test_an_old_report_is_replaced_and_kept_where_a_new_one_cannot_be_written(run: Path) -> None:
    (run / "report.html").write_text("old")
    assert "old" not in report(run).text
    (run / "report.html").unlink()
    (run / "report.html" / "inside").mkdir(parents=True)
    with pytest.raises(TrainingError, match="cannot be written"):
        write_report(run)
    assert [path for path in run.iterdir() if path.name.endswith(".tmp")] == []


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(TrainingError, match="holds no run"):
            write_report(folder)
    assert list(tmp_path.iterdir()) == []


def test_text_is_escaped_unless_it_is_markup() -> None:
    assert element("p", "<b>", Markup("<i>x</i>"), None, kind='"') == '<p class="&quot;">&lt;b&gt;<i>x</i></p>'
