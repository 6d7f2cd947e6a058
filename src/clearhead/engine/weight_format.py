"""The formats in which the engine can hold a model's weights."""

from enum import StrEnum


class WeightFormat(StrEnum):
    """How weights are held while a model runs."""

    FLOAT32 = "float32"
    """As they were trained."""
    INT8 = "int8"
    """A quarter of the memory: each row of a matrix as whole numbers with one scale."""
