"""What tests need, ours and yours: tiny models, a tokenizer that needs no training, parity.

Takes: the name of an architecture; two sets of numbers to compare; a folder to compare with the reference.
Gives: a small random model in milliseconds; a verdict that names the first site that differs.
Uses:  weights, models, config, text, errors; torch; transformers, in `reference` alone and only when called.
Never: the network.
"""

from clearhead.testing.bytes import ByteTokenizer
from clearhead.testing.parity import TOLERANCE, Deviation, assert_parity, deviation
from clearhead.testing.tiny import TinyModel

__all__ = ["TOLERANCE", "ByteTokenizer", "Deviation", "TinyModel", "assert_parity", "deviation"]
