"""The models that the browser opens, and where they are."""

import os
from pathlib import Path

SHARED = (Path(__file__).parents[2] / os.environ.get("CLEARHEAD_SHARED", "../shared")).resolve()
STORIES = SHARED / "models" / "stories15M"
EMBEDDED = ("translator", "storyteller", "reader")
AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
