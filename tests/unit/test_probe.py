import asyncio
import threading
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from clearhead.errors import TraceError
from clearhead.probe import Edit, Recorder, borrowed, heard, listen, probe, scope


def run(value: Tensor | None = None) -> Tensor:
    """Two blocks with two sites each, as a model would have them."""
    value = torch.ones(2) if value is None else value
    for index in range(2):
        with scope("decoder"), scope(str(index)):
            value = probe("resid_pre", value)
            with scope("self"):
                value = probe("output", value + 1)
    return probe("logits", value)


SITES = ["decoder.0.resid_pre", "decoder.0.self.output", "decoder.1.resid_pre", "decoder.1.self.output", "logits"]


def times(factor: float) -> Callable[[Tensor], Tensor]:
    return lambda value: value * factor


def test_a_probe_that_nobody_hears_returns_the_very_same_object() -> None:
    value = object()
    assert probe("logits", value) is value


def test_a_probe_that_a_recorder_hears_returns_the_very_same_object() -> None:
    value = torch.ones(2)
    with listen(Recorder()):
        assert probe("logits", value) is value


def test_sites_are_dotted_by_their_scopes_in_the_order_of_the_pass() -> None:
    recorder = Recorder()
    with listen(recorder):
        run()
    assert list(recorder) == SITES
    assert len(recorder) == len(SITES)


def test_a_scope_may_itself_be_dotted() -> None:
    recorder = Recorder()
    with listen(recorder), scope("encoder.embed"):
        probe("token", 1)
    assert list(recorder) == ["encoder.embed.token"]


def test_a_recorder_keeps_the_value() -> None:
    recorder = Recorder("decoder.1.resid_pre")
    with listen(recorder):
        run()
    assert recorder["decoder.1.resid_pre"].tolist() == [2.0, 2.0]
    assert list(recorder) == ["decoder.1.resid_pre"]
    assert "decoder.1.resid_pre" in recorder
    assert "logits" not in recorder


@pytest.mark.parametrize(
    ("globs", "sites"),
    [
        (("*",), SITES),
        (("decoder.*.output",), ["decoder.0.self.output", "decoder.1.self.output"]),
        (("decoder.?.resid_pre",), ["decoder.0.resid_pre", "decoder.1.resid_pre"]),
        (("decoder.[1-9].*",), ["decoder.1.resid_pre", "decoder.1.self.output"]),
        (("logits", "*.0.resid_pre"), ["decoder.0.resid_pre", "logits"]),
        (("Logits",), []),
    ],
)
def test_globs_choose_sites(globs: tuple[str, ...], sites: list[str]) -> None:
    recorder = Recorder(*globs)
    with listen(recorder):
        run()
    assert list(recorder) == sites


def test_history_holds_every_call_and_indexing_gives_the_last() -> None:
    recorder = Recorder("logits")
    with listen(recorder):
        for start in range(3):
            run(torch.tensor([float(start)]))
    assert [value.item() for value in recorder.history["logits"]] == [2.0, 3.0, 4.0]
    assert recorder["logits"].item() == 4.0


def test_a_later_change_in_place_does_not_alter_what_was_recorded() -> None:
    recorder = Recorder("key")
    cache = torch.zeros(2)
    with listen(recorder):
        probe("key", cache)
    cache += 1
    assert recorder["key"].tolist() == [0.0, 0.0]


def test_no_gradient_flows_through_what_was_recorded() -> None:
    recorder = Recorder("x")
    with listen(recorder):
        passed = probe("x", torch.ones(1, requires_grad=True) * 2)
    assert passed.requires_grad
    assert not recorder["x"].requires_grad


def test_an_edit_replaces_the_value_for_all_that_follows() -> None:
    with listen(Edit("decoder.0.self.output", torch.zeros_like)):
        assert run().tolist() == [1.0, 1.0]
    assert run().tolist() == [3.0, 3.0]


def test_a_recorder_inside_an_edit_records_the_edited_value() -> None:
    recorder = Recorder("logits")
    with listen(Edit("logits", times(10))), listen(recorder):
        run()
    assert recorder["logits"].tolist() == [30.0, 30.0]


def test_an_edit_inside_a_recorder_is_not_recorded() -> None:
    recorder = Recorder("logits")
    with listen(recorder, Edit("logits", times(10))):
        assert run().tolist() == [30.0, 30.0]
    assert recorder["logits"].tolist() == [3.0, 3.0]


def test_edits_compose_in_the_order_in_which_they_began_to_listen() -> None:
    with listen(Edit("logits", times(2)), Edit("logits", lambda value: value + 1)):
        assert run().tolist() == [7.0, 7.0]
    with listen(Edit("logits", lambda value: value + 1)), listen(Edit("logits", times(2))):
        assert run().tolist() == [8.0, 8.0]


def test_an_edit_with_a_glob_changes_every_site_that_matches() -> None:
    with listen(Edit("decoder.*.self.output", times(2))):
        assert run().tolist() == [10.0, 10.0]


def test_heard_says_whether_a_site_of_this_scope_is_wanted() -> None:
    assert not heard("pattern")
    with listen(Recorder("decoder.self.pattern")):
        assert not heard("pattern")
        with scope("decoder"), scope("self"):
            assert heard("pattern")
            assert heard("score", "pattern")
            assert not heard("score")


def test_another_thread_passes_its_probes_unheard() -> None:
    recorder = Recorder()
    other: list[Tensor] = []
    with listen(recorder, Edit("logits", torch.zeros_like)):
        thread = threading.Thread(target=lambda: other.append(run()))
        thread.start()
        thread.join()
        assert len(recorder) == 0
        assert other[0].tolist() == [3.0, 3.0]
        assert run().tolist() == [0.0, 0.0]


def test_tasks_that_run_in_turns_hear_only_themselves() -> None:
    async def task(start: float) -> list[float]:
        recorder = Recorder("logits")
        with listen(recorder):
            for step in range(3):
                run(torch.tensor([start + step]))
                await asyncio.sleep(0)
        return [value.item() for value in recorder.history["logits"]]

    async def both() -> list[list[float]]:
        return await asyncio.gather(task(0.0), task(100.0))

    assert asyncio.run(both()) == [[2.0, 3.0, 4.0], [102.0, 103.0, 104.0]]


def test_who_begins_to_listen_inside_a_scope_hears_its_whole_name() -> None:
    outer, inner = Recorder(), Recorder()
    with listen(outer), scope("decoder"):
        with listen(inner), scope("0"):
            probe("resid_pre", 1)
        probe("final_norm", 1)
    assert list(inner) == ["decoder.0.resid_pre"]
    assert list(outer) == ["decoder.0.resid_pre", "decoder.final_norm"]


def test_a_scope_within_a_scope_of_the_same_name_is_another_place() -> None:
    recorder = Recorder()
    with listen(recorder), scope("a"), scope("a"):
        probe("x", 1)
        with scope("a"):
            probe("x", 2)
        probe("y", 3)
    assert list(recorder) == ["a.a.x", "a.a.a.x", "a.a.y"]


def test_values_are_borrowed_only_where_nobody_keeps_them() -> None:
    class Copier:
        only_copies = True

        def wants(self, site: str) -> bool:
            return bool(site)

        def hear(self, site: str, value: object) -> object:
            assert site
            return value

    assert borrowed()
    with listen(Copier()):
        assert borrowed()
        with listen(Recorder()):
            assert not borrowed()
        assert borrowed()


def test_an_exception_leaves_no_listener_and_no_prefix_behind() -> None:
    failed = Recorder()
    with pytest.raises(ZeroDivisionError), listen(failed), scope("decoder"), scope("0"):
        probe("resid_pre", 1 / 0)
    probe("logits", 1)
    assert len(failed) == 0
    recorder = Recorder()
    with listen(recorder):
        probe("logits", 1)
    assert list(recorder) == ["logits"]


def test_the_prefix_ends_with_its_scope_even_when_the_block_raises() -> None:
    recorder = Recorder()
    with listen(recorder):
        with pytest.raises(ZeroDivisionError), scope("decoder"):
            _ = 1 / 0
        probe("logits", 1)
    assert list(recorder) == ["logits"]


def test_a_failing_block_is_not_blamed_on_an_edit_that_was_not_reached() -> None:
    def fail(_: object) -> object:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), listen(Edit("decoder.1.resid_pre", fail), Edit("logits", torch.zeros_like)):
        run()


def test_a_site_that_was_not_recorded_names_its_nearest() -> None:
    recorder = Recorder()
    with listen(recorder):
        run()
    with pytest.raises(TraceError) as caught:
        recorder["decoder.1.self.ouptut"]
    assert caught.value.got == "decoder.1.self.ouptut"
    assert "decoder.0.resid_pre" in str(caught.value.expected)
    assert "did you mean decoder.1.self.output" in str(caught.value.advice)


def test_a_recorder_that_heard_nothing_says_how_to_listen() -> None:
    with pytest.raises(TraceError, match="listen"):
        Recorder("logits")["logits"]


def test_an_edit_that_changes_the_shape_is_refused() -> None:
    with pytest.raises(TraceError) as caught, listen(Edit("logits", lambda value: value[:1])):
        run()
    assert "logits" in caught.value.problem
    assert "[1]" in str(caught.value.got)
    assert "[2]" in str(caught.value.expected)


@pytest.mark.parametrize("result", [None, 0.0, [3.0, 3.0]])
def test_an_edit_that_returns_no_tensor_is_refused(result: object) -> None:
    with pytest.raises(TraceError) as caught, listen(Edit("logits", lambda _: result)):
        run()
    assert str(caught.value.got).startswith(type(result).__name__)


def test_an_edit_whose_site_never_occurs_is_refused_on_leaving() -> None:
    with pytest.raises(TraceError) as caught, listen(Edit("decoder.2.self.output", torch.zeros_like)):
        run()
    assert caught.value.got == "decoder.2.self.output"
    assert "decoder.0.resid_pre" in str(caught.value.expected)
    assert "decoder.1.self.output" in str(caught.value.advice)
    assert run().tolist() == [3.0, 3.0]


def test_an_edit_around_no_pass_at_all_is_no_mistake() -> None:
    with listen(Edit("decoder.2.self.output", torch.zeros_like)):
        pass


def test_an_edit_that_served_before_is_still_refused_where_its_site_never_occurs() -> None:
    edit = Edit("logits", torch.zeros_like)
    with listen(edit):
        run()
    with pytest.raises(TraceError), listen(edit):
        probe("decoder.0.resid_pre", torch.ones(1))


@pytest.mark.parametrize("change", [lambda value: value.double(), lambda value: value.numpy()], ids=["dtype", "array"])
def test_an_edit_that_changes_the_kind_of_number_is_refused(change: Callable[[Tensor], object]) -> None:
    with pytest.raises(TraceError), listen(Edit("logits", change)):
        run()
