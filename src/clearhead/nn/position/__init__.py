"""How a model knows the order of its tokens: four ways.

Takes: positions, as whole numbers.
Gives: a vector to add to the embedding (sinusoidal, learned), a rotation of queries and keys (rotary),
       or a bias on scores (relative).
Uses:  config, errors; torch.
Never: attention itself.
"""

from clearhead.nn.position.learned import LearnedPosition
from clearhead.nn.position.relative import RelativePosition
from clearhead.nn.position.rotary import RotaryPosition, Rotation
from clearhead.nn.position.sinusoidal import SinusoidalPosition

__all__ = ["LearnedPosition", "RelativePosition", "RotaryPosition", "Rotation", "SinusoidalPosition"]
