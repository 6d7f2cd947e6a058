"""Options of the widely used pipelines, in their spelling and in ours."""

from collections.abc import Mapping
from typing import Any

from clearhead.config import Family
from clearhead.errors import ConfigError, DecodingError
from clearhead.tasks.foreign_values import as_items
from clearhead.tasks.loaded import Loaded
from clearhead.tasks.options import FOREIGN
from clearhead.tasks.written import check_texts

_RENAMED = {**FOREIGN, "num_return_sequences": "n_best", "stop_strings": "stop", "stop_sequence": "stop"}
_WITHOUT_EFFECT = {
    "batch_size",
    "clean_up_tokenization_spaces",
    "device",
    "device_map",
    "dtype",
    "framework",
    "num_workers",
    "padding",
    "return_tensors",
    "return_text",
    "tokenizer",
    "torch_dtype",
    "truncation",
    "trust_remote_code",
    "use_cache",
    "use_fast",
}
"""What is about another engine: batches, threads and precision are this one's own affair."""

_HERE = (None, -1, "cpu", "auto")
LOADING = ("weights", "overflow")
"""Options of the model itself."""


def decoding_options(loaded: Loaded, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of decoding by our names.

    Raises:
        DecodingError: One that has no meaning here; the rest is checked where decoding is set up.
    """
    found: dict[str, Any] = {}
    for name, value in options.items():
        if name == "min_length" and value is not None:
            if loaded.config.family is not Family.ENCODER_DECODER:
                raise DecodingError("min_length counts the prompt", got=value, advice="min_new_tokens")
            found["min_new_tokens"] = max(0, value - 1) if isinstance(value, int) else value
        elif name not in _WITHOUT_EFFECT and name != "min_length":
            found[_RENAMED.get(name, name)] = value
    return found


def plain_options(options: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """The options that a pipeline without decoding knows, with their defaults.

    Raises:
        ConfigError: One that it does not know.
    """
    unknown = [name for name in options if name not in known and name not in _WITHOUT_EFFECT]
    if unknown:
        raise ConfigError(
            "an option that this pipeline does not have",
            got=", ".join(unknown),
            expected=", ".join(known) or "no options",
        )
    return {**known, **{name: value for name, value in options.items() if name in known}}


def check_device(options: Mapping[str, Any]) -> None:
    """Refuses a device that is not this computer's processor."""
    device = options.get("device")
    if device not in _HERE and str(device) != "cpu":
        raise ConfigError("pipelines run on the processor alone", got=f"device={device!r}", expected='device="cpu"')


def texts_of(inputs: object) -> list[str]:
    """One text or several, as several.

    Raises:
        TextError: Something that is not text.
    """
    return check_texts(as_items(inputs))
