"""The worked examples of the notes, one a file, each computed by the parts that models are built of.

Takes: nothing, or other numbers; the notes' own stand in the files as data.
Gives: EXAMPLES: from a key such as E6 to the function that works the example out.
Uses:  nn, models, text, config, figures, probe.
Never: attention, norms or positions written a second time.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from clearhead.lessons.example import WorkedExample
from clearhead.lessons.worked import (
    e01_without_weights,
    e02_positions,
    e03_encoder_block,
    e04_masked,
    e05_cross_shapes,
    e06_glove_heads,
    e07_contextual,
    e08_norms,
    e09_feedforward,
    e10_misconceptions,
    e11_matrix_product,
    e12_leak,
    e13_sentences,
)

__all__ = ["EXAMPLES"]

EXAMPLES: Mapping[str, Callable[..., WorkedExample]] = MappingProxyType(
    {
        "E1": e01_without_weights.work,
        "E2": e02_positions.work,
        "E3": e03_encoder_block.work,
        "E4": e04_masked.work,
        "E5": e05_cross_shapes.work,
        "E6": e06_glove_heads.work,
        "E7": e07_contextual.work,
        "E8": e08_norms.work,
        "E9": e09_feedforward.work,
        "E10": e10_misconceptions.work,
        "E11": e11_matrix_product.work,
        "E12": e12_leak.work,
        "E13": e13_sentences.work,
    }
)
"""Every example by key; nothing is computed before its function is called. Its arguments are its inputs, by key."""
