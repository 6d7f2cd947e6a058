"""Pipelines: the task names and output keys that many programs are written against.

`transformers` dropped some of them in its version 5; here they all stay.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from clearhead.errors import ConfigError, WeightsError, nearest
from clearhead.tasks.defaults import default_model
from clearhead.tasks.loaded import Loaded
from clearhead.tasks.pipeline_options import LOADING, check_device
from clearhead.tasks.pipeline_readers import READERS
from clearhead.tasks.pipeline_writers import WRITERS

_RUNS: Mapping[str, Callable[[Loaded, Any, Mapping[str, Any]], Any]] = {**WRITERS, **READERS}
_OTHER_NAMES = {"sentiment-analysis": "text-classification", "ner": "token-classification"}
_PAIR = re.compile(r"translation_([A-Za-z]{2,3})_to_([A-Za-z]{2,3})")
_VERBS = {
    "translation": "translate",
    "summarization": "summarize",
    "text2text-generation": "complete",
    "text-generation": "complete",
    "question-answering": "answer",
    "text-classification": "classify",
    "zero-shot-classification": "classify",
    "fill-mask": "fill",
    "feature-extraction": "embed",
    "token-classification": "label",
}
_DEFAULTS = {"text2text-generation": "translate", "zero-shot-classification": "choose"}
"""Tasks whose embedded model is not that of their verb."""


class Pipeline:
    """A model with one task, to be called with texts.

    Args:
        task: Its name.
        loaded: The model.
        options: What holds at every call, unless the call says otherwise.
    """

    def __init__(self, *, task: str, loaded: Loaded, options: Mapping[str, Any]) -> None:
        self.task = task
        self.loaded = loaded
        self._options = dict(options)
        self._run = _RUNS[task]

    def __call__(self, inputs: Any = None, *more: Any, **options: Any) -> Any:
        """What the task gives for a text, or for each of a list of texts."""
        asked = {**self._options, **options}
        if more:  # labels of zero-shot classification, or the context of a question, by position
            name = "context" if self.task == "question-answering" else "candidate_labels"
            asked[name] = more[0]
            if name == "context" and isinstance(inputs, str):
                asked["question"], inputs = inputs, None
        return self._run(self.loaded, inputs, asked)

    def __repr__(self) -> str:
        return f"<pipeline {self.task} with {self.loaded.name!r}>"


def pipeline(task: str, model: str | Path | Loaded | None = None, **options: Any) -> Callable[..., Any]:
    """A task by the name that it is widely known by, ready to be called with texts.

        pipeline("translation_en_to_fr")("The cat sat on the mat.")[0]["translation_text"]

    Args:
        task: Its name, such as translation_en_to_fr, text-generation or fill-mask.
        model: An embedded model's name, a folder, a hub id, or a loaded model; by default the embedded one that
            suits the task.
        **options: Options of every call, in the spelling of other pipelines or in ours; `weights` and `overflow`
            are the model's.

    Raises:
        ConfigError: No such task, or a model that cannot do it.
        WeightsError: No model given, and none embedded that suits the task.
    """
    name, pair = _known(task)
    check_device(options)
    loading = {key: options.pop(key) for key in LOADING if key in options}
    if model is None:
        model = _embedded(task, name)
    loaded = model if isinstance(model, Loaded) else Loaded.open(model, **loading)
    loaded.require(_VERBS[name])
    return Pipeline(task=name, loaded=loaded, options={**pair, **options})


def _known(task: str) -> tuple[str, dict[str, str]]:
    """The plain name of a task, and the languages that the name asked for."""
    found = _PAIR.fullmatch(task)
    if found:
        return "translation", {"src_lang": found[1], "tgt_lang": found[2]}
    name = _OTHER_NAMES.get(task, task)
    if name not in _RUNS:
        every = [*_RUNS, *_OTHER_NAMES, "translation_en_to_fr"]
        raise ConfigError("no such task", got=repr(task)[:100], expected=", ".join(every), advice=nearest(task, every))
    return name, {}


def _embedded(task: str, name: str) -> str:
    """The embedded model for a task."""
    try:
        return default_model(_DEFAULTS.get(name, _VERBS[name]))
    except WeightsError as error:
        error.advice = f'pipeline({task!r}, model="owner/name"), or the path of a folder'
        raise
