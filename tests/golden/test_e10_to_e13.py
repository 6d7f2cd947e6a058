"""Misconceptions, the matrix product, the leak, and the sentences."""

import pytest

from clearhead.lessons.example import Result


def test_e10_the_start_token_looks_at_every_source_word(worked) -> None:
    e10 = worked("E10")
    looks = e10["source words that the query of <start> looks at"]
    assert (looks.computed, looks.agrees) == ("5 of 5", False)
    shares = e10["and how much <start> takes from each"].computed
    assert all(share > 0 for row in shares for share in row)
    assert [sum(row) for row in shares] == pytest.approx([1, 1])


def test_e10_the_third_query_is_the_token_before(worked) -> None:
    third = worked("E10")["what makes the query of the third position"]
    assert (third.computed, third.printed) == ("the token written last", "the word still to be generated")
    assert "the vector that went in is that of “आइसक्रीम”" in third.remark


def test_e10_widths_and_positions(worked) -> None:
    e10 = worked("E10")
    assert (e10["d_k, the width of one head's keys"].computed, e10["d_k, the width of one head's keys"].printed) == (
        2,
        4,
    )
    waves = e10["numbers that training can change in sinusoidal positions"]
    assert waves.computed.startswith("0")
    assert waves.agrees is False
    assert e10["and in learned positions, which exist too"].computed == 512 * 4
    head = e10["width of a head when 50 numbers are split over 10 heads"]
    assert (head.computed, head.printed, head.agrees) == (5, 10, False)


def test_e11_matrix_product(worked, close) -> None:
    product = worked("E11")["Q = X W"]
    close(product.computed, [[33, 39, 43], [33, 25, 49], [69, 86, 88]], 9)
    assert product.agrees


def test_e12_the_mask_stops_the_leak(worked, close) -> None:
    e12 = worked("E12")
    close(e12["without a mask"].computed, [[0.8, 0.1, 0.1], [0.15, 0.75, 0.1], [0.1, 0.2, 0.7]], 9)
    close(e12["share that comes from words not yet written"].computed, [0.2, 0.1, 0], 9)
    close(e12["with the causal mask"].computed, [[1, 0, 0], [0.15 / 0.9, 0.75 / 0.9, 0], [0.1, 0.2, 0.7]], 9)
    assert e12["change of the first word when the last one is replaced, without a mask"].computed > 0.1
    assert e12["and with the causal mask"].computed == 0


def test_e13_order_is_lost_without_positions(worked) -> None:
    results: dict[str, Result] = {result.name: result for result in worked("E13").results}
    counts = [result.computed for name, result in results.items() if name.startswith("difference of the count")]
    assert counts == [0, 0]
    lion = "difference of “lion” in the two after an encoder block, "
    assert results[lion + "without positions"].computed < 1e-5
    assert results[lion + "with positions"].computed > 0.1


def test_e13_sentences_output_layer_heads_and_quiz(worked) -> None:
    e13 = worked("E13")
    assert e13["“How are you?”"].computed == "How · are · you · ?  →  आप · कैसे · हैं"
    assert e13["“Congratulations”"].computed.endswith("बधाई · हो")
    assert e13["“Thank you”"].computed.endswith("धन्यवाद")
    assert e13["“I like eating ice cream”"].computed.endswith("मुझे · आइसक्रीम · खाना · पसंद · है")
    assert e13["“We are friends”"].computed == "We · are · friends"
    assert e13["“I am good”"].computed == "I · am · good"
    assert e13["“piece of cake”"].computed == "piece · of · cake"
    assert e13["neurons of the output layer"].computed == 10_000
    assert e13["sum of the probabilities of one word"].computed == pytest.approx(1)
    assert e13["one head or eight, at width 512"].computed[:3] == ((1, 8), (512, 64), (36, 288))
    assert e13["blocks in each stack of the original Transformer"].computed == 6


def test_whatever_differs_from_the_notes_has_a_reason(worked) -> None:
    silent = [
        f"{key}: {result.name}"
        for key in (f"E{number}" for number in range(1, 14))
        for result in worked(key).results
        if result.agrees is False and not result.remark and key not in ("E2", "E10")
    ]
    assert silent == []
