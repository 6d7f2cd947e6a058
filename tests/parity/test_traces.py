"""Recorded patterns, hidden states and logits against what the reference gives out, in one pass and while it writes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from clearhead.config import Family, ModelConfig
from clearhead.decoding import DecodingSettings
from clearhead.engine import Engine, Request
from clearhead.models import EncoderOnly
from clearhead.testing.reference import load_reference
from clearhead.trace import Anatomy, Tape, Token, Trace
from clearhead.trace.record import finished, record_pass, record_request
from clearhead.weights import Checkpoint, load_checkpoint

from .specimen import Specimen
from .test_generate import CHOSEN
from .test_real import tokenizer_of

IDS, TARGET = (5, 40, 8, 12, 30, 7), (3, 9, 11, 4)
ASKED = {"output_attentions": True, "output_hidden_states": True}
N_NEW = 5


def near(ours: np.ndarray, theirs: Tensor, what: str) -> None:
    reference = theirs.detach().float().numpy()
    np.testing.assert_allclose(
        np.nan_to_num(ours), reference, atol=1e-4 * max(1.0, float(np.abs(reference).max())), rtol=0, err_msg=what
    )


def check_stack(trace: Trace, anatomy: Anatomy, stack: str, attentions: Any, hidden: Any, cross: Any = None) -> None:
    """Patterns layer by layer, the stream before each layer, and the last hidden state."""
    n_layers = anatomy.stacks[stack].n_layers
    assert len(attentions) == n_layers and len(hidden) == n_layers + 1
    for layer in range(n_layers):
        near(trace[f"{stack}.{layer}.self.pattern"], attentions[layer], f"pattern {layer}")
        near(trace[f"{stack}.{layer}.resid_pre"], hidden[layer], f"stream {layer}")
        if cross is not None:
            near(trace[f"{stack}.{layer}.cross.pattern"], cross[layer], f"cross {layer}")
    near(trace[anatomy.last(stack)], hidden[-1], "last hidden state")


def traced(checkpoint: Checkpoint, ids: tuple[int, ...], target: tuple[int, ...]) -> Trace:
    config = checkpoint.config
    tape = Tape(sites=("*",))
    record_pass(checkpoint.model, ids=ids, target_ids=target, tape=tape)
    pair = config.family is Family.ENCODER_DECODER
    named = [tuple(Token(id=index, piece=str(index)) for index in one) for one in (ids, target)]
    reads = config.family is not Family.DECODER_ONLY
    return finished(
        tape,
        config=config,
        source=named[0] if reads else (),
        target=named[1] if pair else () if reads else named[0],
    )


def check_pass(checkpoint: Checkpoint, reference: Any, ids: tuple[int, ...]) -> None:
    config: ModelConfig = checkpoint.config
    trace, anatomy = traced(checkpoint, ids, TARGET), Anatomy(config=config)
    with torch.no_grad():
        if config.family is Family.ENCODER_DECODER:
            theirs = reference(
                input_ids=torch.tensor([ids]), decoder_input_ids=torch.tensor([TARGET]), use_cache=False, **ASKED
            )
            check_stack(trace, anatomy, "encoder", theirs.encoder_attentions, theirs.encoder_hidden_states)
            attentions, hidden = theirs.decoder_attentions, theirs.decoder_hidden_states
            check_stack(trace, anatomy, "decoder", attentions, hidden, theirs.cross_attentions)
        else:
            theirs = reference(input_ids=torch.tensor([ids]), **ASKED)
            stack = "encoder" if isinstance(checkpoint.model, EncoderOnly) else "decoder"
            check_stack(trace, anatomy, stack, theirs.attentions, theirs.hidden_states)
    if "logits" in trace and hasattr(theirs, "logits"):
        near(trace["logits"], theirs.logits, "logits")


def test_one_pass_is_the_references(specimen: Specimen) -> None:
    check_pass(specimen.checkpoint, specimen.reference, IDS)


@pytest.mark.parametrize("name", ["stories15M", "all-MiniLM-L6-v2"])
def test_one_pass_of_a_real_model_is_the_references(shared: Path, name: str) -> None:
    folder = shared / "models" / name
    ids = tokenizer_of(folder).encode("Lily saw a big red ball.").ids
    check_pass(load_checkpoint(folder), load_reference(folder), ids)


@pytest.mark.parametrize("specimen", CHOSEN, indirect=True, ids=str)
def test_writing_is_the_references(specimen: Specimen) -> None:
    """Every step of the reference's own `generate`, with its cache, laid end to end."""
    checkpoint, reference = specimen.checkpoint, specimen.reference
    config = checkpoint.config
    anatomy, writes = Anatomy(config=config), config.family is Family.DECODER_ONLY
    start = config.tokens.decoder_start if not writes else None
    engine = Engine(network=checkpoint.model, start_id=start)
    request = Request(ids=IDS, settings=DecodingSettings(max_new_tokens=N_NEW, end_ids=()))
    tape = Tape(sites=("*",))
    trace = record_request(engine, request, tape=tape, config=config, pieces=(str, str)).trace
    theirs = reference.generate(  # type: ignore[operator]
        torch.tensor([IDS]), attention_mask=torch.ones(1, len(IDS), dtype=torch.long), do_sample=False, num_beams=1,
        max_new_tokens=N_NEW, eos_token_id=None, pad_token_id=0, return_dict_in_generate=True, output_logits=True,
        forced_eos_token_id=None, bad_words_ids=None, **ASKED,
    )  # fmt: skip
    assert [token.id for token in trace.written] == theirs.sequences[0, -N_NEW:].tolist()
    near(trace["logits"][0], torch.cat(theirs.logits), "logits")
    attentions = theirs.attentions if writes else theirs.decoder_attentions
    hidden = theirs.hidden_states if writes else theirs.decoder_hidden_states
    for layer in range(anatomy.stacks["decoder"].n_layers):
        laid = torch.cat([step[layer] for step in hidden], dim=1)
        near(trace[f"decoder.{layer}.resid_pre"], laid, f"stream {layer}")
        ours = trace[f"decoder.{layer}.self.pattern"]
        row = 0
        for step in attentions:
            n_rows, n_keys = step[layer].shape[2:]
            seen = row + n_rows  # a cache with a window keeps the last keys alone
            near(ours[:, :, row:seen, seen - n_keys : seen], step[layer], f"pattern {layer}")
            assert not ours[:, :, row:seen, seen:].any()
            row = seen
        if not writes:
            laid = torch.cat([step[layer] for step in theirs.cross_attentions], dim=2)
            near(trace[f"decoder.{layer}.cross.pattern"], laid, f"cross {layer}")
    if not writes:
        check_stack(trace, anatomy, "encoder", theirs.encoder_attentions, theirs.encoder_hidden_states)
