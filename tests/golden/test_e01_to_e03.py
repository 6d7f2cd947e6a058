"""Word vectors, positions, and one encoder block, against the values that the notes should have."""

import pytest


def test_e1_scores_pattern_and_mix_of_cat(worked, close) -> None:
    e1 = worked("E1")
    close(e1["scores of “cat”"].computed, [1, 3, 1, 0, 1, 1], 6)
    assert e1["scores of “cat”"].agrees
    close(e1["pattern of “cat”"].computed, [0.0851, 0.6285, 0.0851, 0.0313, 0.0851, 0.0851], 4)
    close(e1["new vector of “cat”"].computed, [0.2014, 0.7135, 0.2014, 0.7986, 0.7135, 0.2014, 0.1701], 4)


def test_e1_keeps_the_wrong_pattern(worked) -> None:
    pattern = worked("E1")["pattern of “cat”"]
    assert pattern.printed == (0.089, 0.659, 0.089, 0.033, 0.089, 0.089)
    assert pattern.agrees is False
    assert sum(pattern.printed) == pytest.approx(1.048)
    assert "1.048" in pattern.remark
    assert sum(pattern.computed) == pytest.approx(1)


PLACES = {
    "position 0, “the”": ([0, 1, 0, 1], (0.375, 0.951, 0.732, 0.599)),
    "position 2, “sat”": ([0.9093, -0.4161, 0.0200, 0.9998], (0.156, 0.058, 0.866, 0.601)),
    "position 3, “on”": ([0.1411, -0.9900, 0.0300, 0.9996], (0.708, 0.021, 0.97, 0.832)),
    "position 5, “mat”": ([-0.9589, 0.2837, 0.0500, 0.9988], (0.212, 0.183, 0.304, 0.525)),
}


@pytest.mark.parametrize("name", PLACES)
def test_e2_places_that_the_notes_print_wrong(worked, close, name: str) -> None:
    correct, printed = PLACES[name]
    result = worked("E2")[name]
    close(result.computed, correct, 4)
    assert result.printed == printed
    assert result.agrees is False


def test_e2_places_that_are_right(worked, close) -> None:
    e2 = worked("E2")
    full = e2["position 1 in full"].computed
    close(full[:2], [0.84147, 0.54030], 5)
    close(full[2:3], [0.0099998], 7)
    close(full[3:], [0.99995], 5)
    assert e2["position 1, “cat”"].printed == (0.841, 0.540, 0.010, 0.999)
    assert e2["position 1, “cat”"].agrees
    close(e2["position 4, “the”"].computed, [-0.7568, -0.6536, 0.0400, 0.9992], 4)
    close(e2["position 0, six numbers wide"].computed, [0, 1, 0, 1, 0, 1], 12)


def test_e3_input_is_token_and_position(worked, close) -> None:
    e3 = worked("E3")
    tokens = [[0.1, 0.3, 0.5, 0.2], [0.6, 0.4, 0.2, 0.9], [0.3, 0.8, 0.6, 0.1], [0.9, 0.2, 0.1, 0.5]]
    tokens += [tokens[0], [0.7, 0.1, 0.3, 0.4]]
    close(e3["token vectors"].computed, tokens, 6)
    total = e3["input of the block: token + position"]
    close(total.computed[0], [0.1, 1.3, 0.5, 1.2], 4)
    close(total.computed[1], [1.4415, 0.9403, 0.2100, 1.9000], 4)
    close(total.computed[5], [-0.2589, 0.3837, 0.3500, 1.3988], 4)
    close(total.printed, tokens, 12)
    assert total.agrees is False


def test_e3_every_intermediate_shape(worked) -> None:
    shapes = [(result.name, result.computed) for result in worked("E3").results if result.name.startswith("shape of ")]
    assert [shape for _, shape in shapes] == [
        "(6, 4)",
        "(6, 4)",
        "(6, 4)",
        "(6, 4)",
        "(1, 2, 6, 2)",
        "(6, 2)",
        "(6, 4)",
        "(6, 4)",
        "(6, 4)",
        "(6, 8)",
        "(6, 4)",
        "(6, 4)",
    ]
    assert all(worked("E3")[name].agrees is not False for name, _ in shapes)
