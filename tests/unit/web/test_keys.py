"""Who may ask, and how often."""

import base64
from pathlib import Path

import pytest

from clearhead.errors import ServerError
from clearhead.web.api.errand import Errand
from clearhead.web.api.faults import Refusal
from clearhead.web.api.keys import VARIABLE, Keys, Rates, read_tokens

FIRST, SECOND = "first-secret-of-many", "second-secret-of-many"


def test_tokens_come_from_a_file_and_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "tokens"
    file.write_text(f"# ours\n\nann {FIRST}\n", encoding="utf-8")
    monkeypatch.setenv(VARIABLE, f" {SECOND} ,")
    assert read_tokens(file) == [("ann", FIRST), ("token-2", SECOND)]
    monkeypatch.setenv(VARIABLE, "")
    assert read_tokens(None) == []
    monkeypatch.setenv(VARIABLE, "too short")
    with pytest.raises(ServerError, match="a token that cannot be used"):
        read_tokens(None)


def test_only_a_whole_token_opens() -> None:
    keys = Keys(tokens=[("ann", FIRST), ("ben", SECOND)])
    assert keys.needed and not Keys(tokens=[]).needed
    assert (keys.of_header(f"Bearer {FIRST}"), keys.of_header(f"bearer {SECOND}")) == ("ann", "ben")
    password = base64.b64encode(f"anybody:{SECOND}".encode()).decode()
    assert keys.of_header(f"Basic {password}") == "ben"
    for wrong in ("", FIRST, f"Bearer {FIRST[:-1]}", f"Bearer {FIRST}x", "Bearer ", "Basic ???", "Basic ", "Digest x"):
        assert keys.of_header(wrong) is None


def test_a_budget_fills_again_and_is_each_clients_own() -> None:
    now = [0.0]
    rates = Rates(a_minute=2, clock=lambda: now[0])
    assert [rates.take("ann") for _ in range(3)] == [None, None, pytest.approx(30)]
    assert rates.take("ben") is None
    now[0] = 15
    assert rates.take("ann") == pytest.approx(15)
    now[0] = 30
    assert rates.take("ann") is None and rates.take("ann") is not None
    now[0] = 3600
    assert [rates.take("ann") is None for _ in range(3)] == [True, True, False]
    assert Rates(a_minute=0).take("ann") is None


def test_whoever_leaves_is_heard_by_all_that_works_for_them() -> None:
    errand, heard = Errand(seconds=60.0), []
    errand.on_leave(lambda: heard.append("before"))
    errand.check()
    errand.leave()
    errand.on_leave(lambda: heard.append("after"))
    assert heard == ["before", "after"] and errand.left
    with pytest.raises(Refusal) as caught:
        errand.check()
    assert caught.value.status == 499
    with pytest.raises(Refusal) as caught:
        Errand(seconds=-1.0).check()
    assert caught.value.status == 504
