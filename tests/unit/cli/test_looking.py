"""The verbs that look inside: trace, heatmap, why, edit."""

import json
from pathlib import Path

import pytest

from clearhead.trace import load_trace

from .tiny_folders import Run

SHORT = ("--max-new-tokens", 5)


def test_a_trace_is_listed_and_saved(run: Run, folders: Path, tmp_path: Path) -> None:
    out = tmp_path / "t.safetensors"
    ran = run("trace", "the cat", "-m", folders / "gpt2", "--sites", "decoder.*.pattern", "--out", out)
    assert ran.code == 0 and "decoder.0.self.pattern" in ran.out and "nn/attention/attend.py" in ran.out
    assert list(load_trace(out)) == ["decoder.0.self.pattern"]


def test_a_trace_as_json(run: Run, folders: Path) -> None:
    (found,) = run("trace", "the cat", "-m", folders / "marian", *SHORT, "--json").records
    assert found["sites"]["decoder.0.cross.pattern"]["axes"] == "BHQK"
    assert found["sites"]["decoder.0.cross.mixed"]["inputs"] == ["decoder.0.cross.pattern", "decoder.0.cross.value"]


def test_pictures_in_the_terminal_and_in_files(run: Run, folders: Path, tmp_path: Path) -> None:
    ran = run("heatmap", "abc", "-m", folders / "gpt2", "--site", "decoder.0.self.pattern")
    assert ran.code == 0 and "query position" in ran.out
    for kind, name in (("cells", "x.svg"), ("lines", "x.png"), ("beams", "x.html"), ("lens", "y.svg")):
        given = ("-m", folders / "marian", "--as", kind, *SHORT, "--out", tmp_path / name)
        site = () if kind in ("beams", "lens") else ("--site", "decoder.*.cross.pattern")
        ran = run("heatmap", "abc", *given, *site)
        assert ran.code == 0, ran.err
        assert (tmp_path / name).stat().st_size > 100


def test_why_opens_a_number_as_text_json_and_page(run: Run, folders: Path, tmp_path: Path) -> None:
    given = ("why", "abc", "-m", folders / "gpt2", "--at", "T=-1", "--at", "V=b")
    ran = run(*given, "--by", "block")
    assert ran.code == 0 and "embed.token" in ran.out and "scales held" in ran.out
    (found,) = run(*given, "--json", "--depth", 1).records
    assert found["recomputed"] == pytest.approx(found["value"], abs=1e-5)
    assert run(*given, "--out", tmp_path / "why.html").code == 0
    assert "<details" in (tmp_path / "why.html").read_text()
    assert run("why", "abc", "-m", folders / "gpt2", "--site", "loss").code == 0
    assert run("why", "abc", "-m", folders / "marian", *SHORT, "--site", "score", "--beams", 2).code == 0


def test_an_edit_shows_before_and_after(run: Run, folders: Path) -> None:
    ran = run("edit", "abc", "-m", folders / "gpt2", "-e", "ablate:decoder.0.self:head=1", *SHORT)
    assert ran.code == 0 and "before" in ran.out and "→" in ran.out
    (found,) = run("edit", "abc", "-m", folders / "gpt2", "-e", "skip:decoder.0", *SHORT, "--json").records
    assert found["before"] != found["after"]


def test_an_edit_over_a_file_counts_what_changed(run: Run, folders: Path, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("the cat\tle chat\nthe mat\tle tapis\n", encoding="utf-8")
    given = ("edit", "-m", folders / "marian", "--file", pairs, "-e", "skip:decoder.0", *SHORT)
    ran = run(*given)
    assert ran.code == 0 and "of 2 texts changed" in ran.out and "BLEU" in ran.out
    assert [set(one) for one in run(*given, "--json").records] == [{"text", "before", "after"}] * 2


@pytest.mark.parametrize(
    ("arguments", "code", "hint"),
    [
        (("why", "abc", "--site", "nothing"), 1, "not recorded"),
        (("why", "abc", "--at", "T=99", "--at", "V=0"), 1, "from 0 to"),
        (("why", "abc", "--at", "T"), 2, "AXIS=PLACE"),
        (("heatmap", "abc", "--site", "decoder.0.self.patern"), 1, "decoder.0.self.pattern"),
        (("heatmap", "abc", "--head", "9", "--site", "decoder.0.self.pattern"), 1, "0 to 1"),
        (("trace", "abc", "--sites", "x"), 1, "no site of this name"),
        (("edit", "abc"), 2, "--edit"),
        (("edit", "-e", "skip:decoder.0"), 2, "--file"),
        (("edit", "abc", "-e", "burn:decoder.0"), 1, "ablate"),
        (("edit", "abc", "-e", "skip:decoder.9"), 1, "decoder.0"),
    ],
)
def test_mistakes_are_explained(run: Run, folders: Path, arguments: tuple[str, ...], code: int, hint: str) -> None:
    ran = run(*arguments, "-m", folders / "gpt2")
    assert ran.code == code and hint in ran.err, ran.err


def test_no_model_and_none_embedded_is_said(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clearhead.tasks.defaults.embedded_models", list)
    ran = run("why", "abc")
    assert ran.code == 1 and "--model" in ran.err


def test_json_is_json(run: Run, folders: Path) -> None:
    ran = run("why", "abc", "-m", folders / "gpt2", "--at", "T=0", "--at", "V=3", "--json", "--depth", 4)
    assert json.loads(ran.out)["children"]
