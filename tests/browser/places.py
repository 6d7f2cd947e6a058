"""The models that the browser opens, and where they are."""

import os
from pathlib import Path

SHARED = (Path(__file__).parents[2] / os.environ.get("CLEARHEAD_SHARED", "../shared")).resolve()
STORIES = SHARED / "models" / "stories15M"
EMBEDDED = ("translator", "storyteller", "reader")
MODELS = (*EMBEDDED, STORIES.name)
TEXTS = {
    "translator": "The cat sat on the mat.",
    "storyteller": "Once upon a time, there was a little",
    "reader": "The cat drank some [MASK].",
    STORIES.name: "Once upon a time, there was a little",
}
AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
