"""Whole models: encoder-only, decoder-only, encoder-decoder, and the recurrent baseline.

Takes: a configuration; then ids and masks.
Gives: hidden states, and what the head reads off them.
Uses:  nn, config, errors; torch.
Never: text, files, the loop of decoding.
"""

from clearhead.models.base import Network
from clearhead.models.build import blank, build
from clearhead.models.decoder_only import DecoderOnly
from clearhead.models.encoder_decoder import EncoderDecoder
from clearhead.models.encoder_only import EncoderOnly
from clearhead.models.heads import LanguageModelHead, SequenceClassificationHead
from clearhead.models.outputs import DecoderOutput, EncoderDecoderOutput, EncoderOutput
from clearhead.models.recurrent import Recurrent

__all__ = [
    "DecoderOnly",
    "DecoderOutput",
    "EncoderDecoder",
    "EncoderDecoderOutput",
    "EncoderOnly",
    "EncoderOutput",
    "LanguageModelHead",
    "Network",
    "Recurrent",
    "SequenceClassificationHead",
    "blank",
    "build",
]
