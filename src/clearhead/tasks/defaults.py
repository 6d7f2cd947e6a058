"""Which embedded model does a task where nobody names one."""

from clearhead.errors import WeightsError
from clearhead.weights.locate import embedded_models

EMBEDDED = {
    "translate": "translator",
    "complete": "storyteller",
    "fill": "reader",
    "classify": "reader-sentiment",
    "choose": "reader-meaning",  # labels of one's own
    "embed": "reader-meaning",
    "search": "reader-meaning",
    "summarize": "reader-meaning",
    "answer": "reader-meaning",
}


def model_to_look_into(text: str, *, to: str | None) -> str:
    """The embedded model that somebody means who looks inside and names none.

    Args:
        text: What it will read.
        to: The language it is to write, if any.
    """
    if to is not None:
        return default_model("translate")
    return default_model("fill" if "[MASK]" in text else "complete")


def default_model(verb: str) -> str:
    """The name of the embedded model for a task.

    Raises:
        WeightsError: None comes with this installation.
    """
    name = EMBEDDED.get(verb)
    if name is None or name not in embedded_models():
        raise WeightsError(
            f"no model was named, and none that can {verb} comes with this installation",
            expected="a folder, or a hub id such as owner/name",
            advice="--model FOLDER on the command line, load(FOLDER) in Python; `clearhead models` lists what is here",
        )
    return name
