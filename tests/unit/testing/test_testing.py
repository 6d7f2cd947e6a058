"""What tests need: tiny models, a tokenizer of bytes, parity that can fail."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from clearhead.config import ARCHITECTURES
from clearhead.errors import TextError, TraceError
from clearhead.testing import TOLERANCE, ByteTokenizer, TinyModel, assert_parity, deviation

TOKENIZER = ByteTokenizer()


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40))
def test_bytes_lose_nothing(text: str) -> None:
    encoding = TOKENIZER.encode(text, literal=True)
    assert TOKENIZER.decode(encoding.ids, skip_special=False) == text
    assert len(encoding.ids) == len(text.encode())


def test_bytes_keep_their_order_after_the_special_tokens() -> None:
    n_special = TOKENIZER.vocab_size - 256
    assert TOKENIZER.encode("AB").ids == (n_special + 65, n_special + 66)
    assert TOKENIZER.special.pad == 0


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_tiny_model_runs_on_text_of_any_length(architecture: str) -> None:
    output = TinyModel(architecture).run(["a", "a longer text"], ["b", "bb"])
    assert output.hidden_BTD.isfinite().all() if hasattr(output, "hidden_BTD") else output.hidden_BSD.isfinite().all()


def test_the_same_seed_gives_the_same_tiny_model() -> None:
    first, same, other = TinyModel("gpt2"), TinyModel("gpt2"), TinyModel("gpt2", seed=1)
    assert torch.equal(first.run(["x"]).logits_BTV, same.run(["x"]).logits_BTV)
    assert not torch.equal(first.run(["x"]).logits_BTV, other.run(["x"]).logits_BTV)


@pytest.mark.parametrize("texts", [[], [""], ["a", ""]])
def test_an_empty_batch_is_refused(texts: list[str]) -> None:
    with pytest.raises(TextError):
        TinyModel("gpt2").batch(texts)


def test_parity_names_the_first_site_that_differs() -> None:
    reference = {"a": torch.ones(2), "b": torch.ones(2), "c": torch.ones(2)}
    ours = {"a": torch.ones(2), "b": torch.tensor([1.0, 1.001]), "c": torch.zeros(2)}
    with pytest.raises(AssertionError, match=r"first site that differs:\nb "):
        assert_parity(ours, reference)
    assert [item.site for item in assert_parity(ours, {"a": reference["a"]})] == ["a"]


def test_parity_wants_every_site_and_at_least_one() -> None:
    with pytest.raises(AssertionError, match="not recorded: a"):
        assert_parity({}, {"a": torch.ones(1)})
    with pytest.raises(AssertionError, match="proves nothing"):
        assert_parity({"a": torch.ones(1)}, {})


def test_the_tolerance_grows_with_the_reference_and_a_nan_never_passes() -> None:
    allowed = TOLERANCE[torch.float32]
    assert deviation("x", torch.tensor([1000.05]), torch.tensor([1000.0])).passes
    assert not deviation("x", torch.tensor([0.5 + 2 * allowed]), torch.tensor([0.5])).passes
    assert not deviation("x", torch.tensor([float("nan")]), torch.tensor([0.0])).passes
    with pytest.raises(TraceError):
        deviation("x", torch.ones(2), torch.ones(3))
