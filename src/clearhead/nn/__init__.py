"""The parts of a Transformer, each a small module that reads like its figure.

Takes: ids or tensors, and a configuration.
Gives: tensors; every number on the way passes a probe.
Uses:  config, probe, errors; torch.
Never: text, files, whole models, the spelling of published checkpoints.

    embedding + position → block × N (norm · attention · feedforward, added to the stream) → norm
"""

from clearhead.nn.attention.attend import attend
from clearhead.nn.attention.attention import Attention
from clearhead.nn.attention.cache import BlockCache, KeyValueCache, StackCache
from clearhead.nn.attention.heads import merge_heads, split_heads
from clearhead.nn.attention.mask import AttentionMask
from clearhead.nn.attention.score import AdditiveScorer, DotScorer, Scorer, make_scorer
from clearhead.nn.block import Block, Source
from clearhead.nn.embedding import InputEmbedding, TokenEmbedding, make_token_embedding
from clearhead.nn.feedforward import FeedForward
from clearhead.nn.norm import BatchNorm, LayerNorm, RMSNorm, make_norm
from clearhead.nn.position import LearnedPosition, RelativePosition, RotaryPosition, SinusoidalPosition
from clearhead.nn.recurrent import RecurrentDecoder, RecurrentEncoder, RecurrentState
from clearhead.nn.stack import Stack

__all__ = [
    "AdditiveScorer",
    "Attention",
    "AttentionMask",
    "BatchNorm",
    "Block",
    "BlockCache",
    "DotScorer",
    "FeedForward",
    "InputEmbedding",
    "KeyValueCache",
    "LayerNorm",
    "LearnedPosition",
    "RMSNorm",
    "RecurrentDecoder",
    "RecurrentEncoder",
    "RecurrentState",
    "RelativePosition",
    "RotaryPosition",
    "Scorer",
    "SinusoidalPosition",
    "Source",
    "Stack",
    "StackCache",
    "TokenEmbedding",
    "attend",
    "make_norm",
    "make_scorer",
    "make_token_embedding",
    "merge_heads",
    "split_heads",
]
