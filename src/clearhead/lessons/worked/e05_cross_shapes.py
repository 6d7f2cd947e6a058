"""E5: the shapes of cross-attention."""

import torch

from clearhead.lessons.example import Input, Result, Table, WorkedExample, shape
from clearhead.lessons.small_models import encoder_decoder
from clearhead.nn import merge_heads
from clearhead.probe import Recorder, listen

__all__ = ["work"]


_SIZES: Table = ((6, 3),)
_VOCABULARY = 72


def work(*, sizes: Table = _SIZES) -> WorkedExample:
    """Lets three target positions look at six source positions.

    Args:
        sizes: How many source and target positions there are.
    """
    n_source, n_target = (int(one) for one in sizes[0])
    model = encoder_decoder(vocab_size=_VOCABULARY)
    source_ids_BS = torch.arange(n_source)[None] % _VOCABULARY
    target_ids_BT = torch.arange(n_target)[None] % _VOCABULARY
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
        inputs=(
            Input(
                key="sizes",
                name="how many words",
                value=sizes,
                columns=("source", "target"),
                least=1,
                most=64,
                whole=True,
            ),
        ),
    )
