import torch
from scipy.stats import kstest

from clearhead.decoding.noise import gumbel

IDS = torch.arange(50)
GOLDEN = [
    [1.053059059283411, -0.6807578025137786],
    [0.8635963628317395, 1.0051587347812545],
    [-0.5932082143825174, -0.7027240208487938],
]


WORD = 2**64


def splitmix(bits: int) -> int:
    bits = (bits + 0x9E3779B97F4A7C15) % WORD
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB % WORD
    return bits ^ (bits >> 31)


def noise(seeds: list[int], steps: list[int], n_ids: int = 50) -> torch.Tensor:
    return gumbel(torch.arange(n_ids).expand(len(seeds), -1), seeds=seeds, steps=steps)


def uniform(values: torch.Tensor) -> torch.Tensor:
    return torch.exp(-torch.exp(-values))


def test_noise_is_what_it_was() -> None:
    """A seed means the same text for ever."""
    found = noise([0, 1, -1], [0, 0, 7], n_ids=2)
    expected = torch.tensor(GOLDEN, dtype=torch.float64)
    assert torch.allclose(found, expected, atol=1e-12, rtol=0)


def test_noise_is_that_of_splitmix() -> None:
    """Against the generator as it is written down, in whole numbers of any size."""
    for seed, step in [(0, 0), (5, 3), (2**63 - 1, 1000), (-7, 2)]:
        key = splitmix(splitmix(seed % WORD) + step)
        for index in (0, 1, 31999):
            bits = splitmix((key + (index - 1) * 0x9E3779B97F4A7C15) % WORD)
            wanted = ((bits >> 12) + 0.5) * 2.0**-52
            found = uniform(gumbel(torch.tensor([[index]]), seeds=[seed], steps=[step]))
            assert abs(float(found) - wanted) < 1e-9


def test_noise_is_uniform_over_ids_seeds_and_steps() -> None:
    by_id = uniform(noise([3], [0], n_ids=20_000))[0]
    by_seed = uniform(noise(list(range(20_000)), [0] * 20_000, n_ids=1))[:, 0]
    by_step = uniform(noise([3] * 20_000, list(range(20_000)), n_ids=1))[:, 0]
    for values in (by_id, by_seed, by_step):
        assert kstest(values.numpy(), "uniform").pvalue > 0.001
        neighbours = torch.corrcoef(torch.stack([values[:-1], values[1:]]))[0, 1]
        assert abs(float(neighbours)) < 0.03


def test_a_row_has_the_same_noise_in_any_company_and_any_order() -> None:
    together = noise([4, 5, 6], [2, 0, 9])
    for place, (seed, step) in enumerate([(4, 2), (5, 0), (6, 9)]):
        assert torch.equal(noise([seed], [step])[0], together[place])
    shuffled = IDS.flip(0).unsqueeze(0)
    assert torch.equal(gumbel(shuffled, seeds=[4], steps=[2])[0].flip(0), together[0])


def test_rows_steps_and_seeds_differ() -> None:
    found = noise([1, 1, 2, 2], [0, 1, 0, 1])
    assert len({tuple(row.tolist()) for row in found}) == 4


def test_noise_is_finite_where_the_hash_is_all_ones_or_all_zeros() -> None:
    key = splitmix(splitmix(0))
    for start in (0, WORD - 1):
        bits = start
        # The way back through the hash, to the id that it makes these bits of.
        bits ^= (bits >> 31) ^ (bits >> 62)
        bits = bits * pow(0x94D049BB133111EB, -1, WORD) % WORD
        bits ^= (bits >> 27) ^ (bits >> 54)
        bits = bits * pow(0xBF58476D1CE4E5B9, -1, WORD) % WORD
        bits ^= (bits >> 30) ^ (bits >> 60)
        index = (bits - key) * pow(0x9E3779B97F4A7C15, -1, WORD) % WORD
        found = gumbel(torch.tensor([[index - WORD if index >= WORD // 2 else index]]), seeds=[0], steps=[0])
        assert torch.isfinite(found).all()
        assert abs(float(found)) > 3.5  # it is one of the ends
