"""The first values of every parameter, before any training."""

import math

import torch
from torch import nn

from clearhead.nn.attention.score import AdditiveScorer
from clearhead.nn.embedding import TokenEmbedding
from clearhead.nn.norm import BatchNorm, LayerNorm, RMSNorm
from clearhead.nn.position import LearnedPosition, RelativePosition


@torch.no_grad()
def initialise(model: nn.Module) -> None:
    """Fills a model with first values, drawn from torch's default generator.

    Linear maps keep the variance of what passes (Glorot and Bengio 2010); a token's vector has length
    about 1 before scaling, so that its logits start small where it is the output layer too.
    """
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
    for module in model.modules():
        _fill_weight(module)


def _fill_weight(module: nn.Module) -> None:
    match module:
        case nn.Linear():
            nn.init.xavier_uniform_(module.weight)
        case TokenEmbedding() | AdditiveScorer():
            nn.init.normal_(module.weight, std=1 / math.sqrt(module.weight.shape[1]))
        case LearnedPosition() | RelativePosition():
            nn.init.normal_(module.weight, std=0.02)
        case LayerNorm() | RMSNorm() | BatchNorm():
            nn.init.ones_(module.weight)
        case nn.RNNBase() | nn.RNNCellBase():
            bound = 1 / math.sqrt(module.hidden_size)
            for parameter in module.parameters():
                nn.init.uniform_(parameter, -bound, bound)
        case _:
            pass
