"""Masked attention, cross-attention, and the notebook's digits."""

import pytest


def test_e4_masked_attention(worked, close) -> None:
    e4 = worked("E4")
    close(e4["Q Kᵀ"].computed, [[0.59, 0.52, 0.46], [0.52, 0.57, 0.66], [0.46, 0.66, 0.94]], 6)
    close(e4["scaled"].computed, [[0.295, 0.260, 0.230], [0.260, 0.285, 0.330], [0.230, 0.330, 0.470]], 6)
    close(e4["masked pattern"].computed, [[1, 0, 0], [0.4938, 0.5062, 0], [0.2962, 0.3273, 0.3765]], 4)
    close(
        e4["output"].computed,
        [[0.1, 0, 0.3, 0.7], [0.2519, 0.0506, 0.2494, 0.6494], [0.4618, 0.1080, 0.1920, 0.5920]],
        4,
    )


def test_e4_closed_cells_are_exactly_zero(worked) -> None:
    pattern = worked("E4")["masked pattern"].computed
    assert pattern[0] == (1.0, 0.0, 0.0)
    assert pattern[1][2] == 0.0


def test_e4_keeps_what_the_notes_print(worked, close) -> None:
    e4 = worked("E4")
    product, pattern = e4["Q Kᵀ"], e4["masked pattern"]
    assert product.printed == ((0.63, 0.54, 0.45), (0.54, 0.61, 0.56), (0.45, 0.56, 0.54))
    assert product.agrees is False
    assert pattern.printed[1:] == ((0.491, 0.509, 0.0), (0.326, 0.347, 0.327))
    assert pattern.agrees is False
    again = e4["last row of the pattern, from the printed product"]
    close(again.computed, [0.322, 0.341, 0.337], 3)
    assert again.printed == (0.326, 0.347, 0.327)
    assert again.agrees is False


def test_e5_cross_attention_has_as_many_outputs_as_queries(worked) -> None:
    e5 = worked("E5")
    assert e5["shape of the encoder output"].computed == "(6, 4)"
    assert e5["shape of the queries, from the decoder"].computed == "(3, 4)"
    assert e5["shape of one head's output"].computed == "(3, 2)"
    assert e5["shape of the heads, concatenated"].computed == "(3, 4)"
    assert e5["shape of one head's pattern"].computed == "(3, 6)"


NOTEBOOK = {
    "ten heads of width 5: “the”, first five outputs": ("-4.37999318 -1.99506183 -2.05712457 -0.08937276 -1.72769596"),
    "one head of width 50: “the”, first five outputs": ("-4.31502585 -3.90981072 -2.11083877 -1.51211468 -1.90636801"),
}


@pytest.mark.parametrize("name", NOTEBOOK)
def test_e6_digit_for_digit(worked, name: str) -> None:
    result = worked("E6")[name]
    assert " ".join(f"{value:.8f}" for value in result.computed) == NOTEBOOK[name]
    assert " ".join(f"{value:.8f}" for value in result.printed) == NOTEBOOK[name]
    assert result.agrees


def test_e6_draws_ten_heads(worked) -> None:
    panels = worked("E6").figures["heads"].panels
    assert panels.values.shape == (10, 5, 5)
    assert panels.rows == panels.columns == ("the", "cat", "sat", "on", "table")
    assert panels.values.sum(-1) == pytest.approx(1)
    assert worked("E6").figures["one-head"].panels.values.shape == (1, 5, 5)
