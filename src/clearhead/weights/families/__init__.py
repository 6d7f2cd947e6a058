"""The published families: each one translation of configurations and one reversible table of names.

Takes: a config.json and the names of a checkpoint's tensors.
Gives: our configuration and our parameters' names, and the way back.
Uses:  config, errors.
Never: a forward pass; a family that needs another block is no family.
"""

from collections.abc import Mapping
from types import MappingProxyType

from clearhead.weights.families.bert import BERT
from clearhead.weights.families.dialect import Dialect
from clearhead.weights.families.distilbert import DISTILBERT
from clearhead.weights.families.gpt2 import GPT2
from clearhead.weights.families.llama import LLAMA, MISTRAL, QWEN2
from clearhead.weights.families.marian import MARIAN
from clearhead.weights.families.t5 import T5

__all__ = ["DIALECTS", "Dialect"]

DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {dialect.name: dialect for dialect in (GPT2, LLAMA, MISTRAL, QWEN2, BERT, DISTILBERT, T5, MARIAN)}
)
"""Every family by its `model_type`."""
