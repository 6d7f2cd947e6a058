"""Small arithmetic that several of this room need."""

import numpy as np


def softmax(logits: np.ndarray) -> np.ndarray:
    """Logits as probabilities, along the last axis, in double precision."""
    powers = np.exp(logits.astype(np.float64) - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    """The cosine of the angle between two vectors."""
    return float(a @ b / max(float(np.linalg.norm(a) * np.linalg.norm(b)), 1e-12))
