"""E5: the shapes of cross-attention."""

import torch

from clearhead.lessons.example import Result, WorkedExample, shape
from clearhead.lessons.small_models import encoder_decoder
from clearhead.nn import merge_heads
from clearhead.probe import Recorder, listen

__all__ = ["work"]


def work() -> WorkedExample:
    """Lets three target positions look at six source positions."""
    model = encoder_decoder(vocab_size=72)
    source_ids_BS = torch.tensor([[5, 42, 33, 14, 5, 71]])
    target_ids_BT = torch.tensor([[1, 5, 16]])
    recorder = Recorder("decoder.0.cross.*")
    with torch.no_grad(), listen(recorder):
        output = model(source_ids_BS, target_ids_BT)
    query_BHQC, key_BHKC = recorder["decoder.0.cross.query"], recorder["decoder.0.cross.key"]
    mixed_BHQC = recorder["decoder.0.cross.mixed"]
    steps = (
        ("the encoder output", output.encoded_BSD[0], "(6, 4)"),
        ("the queries, from the decoder", merge_heads(query_BHQC)[0], "(3, 4)"),
        ("one head's queries", query_BHQC[0, 0], "(3, 2)"),
        ("one head's output", mixed_BHQC[0, 0], "(3, 2)"),
        ("the heads, concatenated", merge_heads(mixed_BHQC)[0], "(3, 4)"),
    )
    own = (
        ("the keys, from the encoder", merge_heads(key_BHKC)[0]),
        ("one head's pattern", recorder["decoder.0.cross.pattern"][0, 0]),
    )
    return WorkedExample(
        key="E5",
        title="Cross-attention: three words look at six",
        shows=(
            "Queries come from the decoder, keys and values from the encoder. There are as many outputs as "
            "queries, however long the source is."
        ),
        results=(
            *(Result(name=f"shape of {name}", computed=shape(value), printed=given) for name, value, given in steps),
            *(Result(name=f"shape of {name}", computed=shape(value)) for name, value in own),
        ),
    )
