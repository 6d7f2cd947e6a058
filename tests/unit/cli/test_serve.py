"""`clearhead serve` says what is wrong before it listens."""

import socket
from pathlib import Path

import pytest

from .tiny_folders import Run


def test_others_are_not_let_in_by_accident(run: Run, folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLEARHEAD_TOKENS", raising=False)
    for host in ("0.0.0.0", "::", "192.0.2.1"):  # noqa: S104
        found = run("serve", folders / "gpt2", "--host", host, "--port", 0)
        assert found.code == 1 and "--tokens" in found.err and "--allow-anyone" in found.err


@pytest.mark.parametrize(
    "line", ["short", "a name with spaces and-a-long-enough-secret", "not\tprintable\x07enough1234"]
)
def test_a_token_that_is_none_is_not_shown(run: Run, folders: Path, tmp_path: Path, line: str) -> None:
    file = tmp_path / "tokens"
    file.write_text(f"# comment\n{line}\n", encoding="utf-8")
    found = run("serve", folders / "gpt2", "--tokens", file, "--port", 0)
    assert found.code == 1 and "token 1 of 1" in found.err and line not in found.err


def test_a_place_that_is_taken_and_one_that_is_not_ours(run: Run, folders: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        found = run("serve", folders / "gpt2", "--port", taken.getsockname()[1])
    assert found.code == 1 and "--port" in found.err
    found = run("serve", folders / "gpt2", "--host", "192.0.2.1", "--allow-anyone", "--port", 0)
    assert found.code == 1 and "192.0.2.1" in found.err


def test_a_model_that_is_not_there_is_missed_at_once(run: Run, folders: Path, tmp_path: Path) -> None:
    found = run("serve", tmp_path / "nothing", "--port", 0)
    assert found.code == 1 and "nothing" in found.err
    (tmp_path / "gpt2").symlink_to(folders / "t5", target_is_directory=True)
    found = run("serve", folders / "gpt2", tmp_path / "gpt2", "--port", 0)
    assert found.code == 1 and "one name" in found.err


def test_impossible_settings(run: Run, folders: Path) -> None:
    assert run("serve", folders / "gpt2", "--deadline", 0, "--port", 0).code == 1
    assert run("serve", folders / "gpt2", "--rows", 0).code == 2
    assert run("serve", folders / "gpt2", "--port", 70000).code == 2
