"""Contextual vectors, norms, and the feed-forward network."""


def test_e7_patterns_mix_static_vectors(worked, close) -> None:
    e7 = worked("E7")
    close(e7["“bank” near money, first version"].computed, [[0.2, 0.7, 0.1]], 9)
    close(e7["“bank” near a river, first version"].computed, [[0.5, 0.4, 0.1]], 9)
    close(e7["money bank grows"].computed, [[0.7, 0.2, 0.1], [0.25, 0.7, 0.05], [0.1, 0.2, 0.7]], 9)
    close(e7["river bank flows"].computed, [[0.8, 0.15, 0.05], [0.2, 0.78, 0.02], [0.4, 0.01, 0.59]], 9)
    close(e7["sums of the six rows"].computed, [1] * 6, 9)
    assert all(result.agrees is not False for result in e7.results)


def test_e7_static_banks_are_equal_and_contextual_ones_differ(worked, close) -> None:
    e7 = worked("E7")
    close(e7["cosine of the two static “bank”s"].computed, 1.0, 9)
    money, river = [0.25, 0, 0.7, 0.05, 0], [0, 0.2, 0.78, 0, 0.02]
    dot = sum(a * b for a, b in zip(money, river, strict=True))
    norms = sum(a * a for a in money) ** 0.5 * sum(b * b for b in river) ** 0.5
    close(e7["cosine of the two contextual “bank”s"].computed, dot / norms, 9)


def test_e7_king_queen_and_apple(worked, close) -> None:
    e7 = worked("E7")
    dot = 0.6 * 0.3 + 0.1 * 0.2 + 1.0 * 0.9 + 0.9 * 1.0
    norms = (0.36 + 0.01 + 1 + 0.81) ** 0.5 * (0.09 + 0.04 + 0.81 + 1) ** 0.5
    close(e7["cosine of the notes' king and queen"].computed, dot / norms, 6)
    apple = e7["“apple” on [taste, technology], 9,000 of 10,000 sentences about the fruit"]
    close(apple.computed, [0.9, 0.1], 9)
    assert apple.agrees
    assert "[0.8, 0.1]" in apple.remark


def test_e8_both_norms(worked, close) -> None:
    e8 = worked("E8")
    close(e8["layer norm of the first sentence"].computed, [-1.2787, -0.6975, 1.6275, 0.4650, -0.1162], 4)
    close(e8["batch norm of f1"].computed, [-0.9503, -1.3822, 0.3455, 0.7775, 1.2094], 4)


def test_e8_padding_moves_batch_norm_alone(worked) -> None:
    e8 = worked("E8")
    assert e8["largest change by padding, batch norm"].computed > 1
    assert e8["largest change by padding, layer norm"].computed == 0
    assert e8["batch norm of f1, padded"].computed != e8["batch norm of f1"].computed


def test_e9_expands_and_contracts(worked) -> None:
    e9 = worked("E9")
    shapes = [result.computed for result in e9.results if result.name.startswith("shape of ")]
    assert shapes == ["(3, 512)", "(512, 2048)", "(3, 2048)", "(2048, 512)", "(3, 512)"]
    assert e9["parameters"].computed == 512 * 2048 + 2048 + 2048 * 512 + 512
    assert e9["largest change when the second position goes alone"].computed < 1e-5
