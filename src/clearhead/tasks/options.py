"""Settings of decoding from what the user asks, what the folder says, and what the task is used to."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from clearhead.config import Family
from clearhead.decoding import DecodingSettings, EarlyStopping
from clearhead.errors import ClearheadError, DecodingError, WeightsError, nearest
from clearhead.tasks.foreign_values import as_items, as_record
from clearhead.tasks.loaded import Loaded

# What published folders and pipelines call them.
FOREIGN = {
    "do_sample": "sample",
    "temperature": "temperature",
    "top_k": "top_k",
    "top_p": "top_p",
    "min_p": "min_p",
    "repetition_penalty": "repetition_penalty",
    "no_repeat_ngram_size": "no_repeat_ngram",
    "min_new_tokens": "min_new_tokens",
    "max_new_tokens": "max_new_tokens",
    "max_length": "max_length",
    "num_beams": "beams",
    "length_penalty": "length_penalty",
    "early_stopping": "early_stopping",
}
_EARLY = {True: EarlyStopping.ALWAYS, False: EarlyStopping.HEURISTIC}
_KNOWN = {field.name for field in fields(DecodingSettings)} - {"end_ids"}
_REALS = ("temperature", "top_p", "min_p", "repetition_penalty", "length_penalty")
_DRAWING = ("temperature", "top_k", "top_p", "min_p")
_BARE_LENGTH = 20  # what older folders carry without meaning it


def settings_of(
    loaded: Loaded, *, usual: Mapping[str, Any], asked: Mapping[str, Any], tasks: Sequence[str] = ()
) -> DecodingSettings:
    """The settings that hold: what is asked goes before what the folder says, and that before what is usual.

    Args:
        loaded: The model.
        usual: What the task does where nobody says otherwise.
        asked: Keyword arguments by the names of DecodingSettings; None means not asked. `bad_words` and `stop` are
            strings.
        tasks: What the folder may call the task; what it says of the first that it knows goes before the rest.

    Raises:
        DecodingError: An option that does not exist, or one out of range.
        WeightsError: The folder says something that no decoding can follow.
    """
    given = _asked(asked)
    folder = _of_folder(loaded, tasks)
    found = {**usual, **folder, **given}
    _settle(found, given)
    if "max_new_tokens" in given and "max_length" not in given:
        found.pop("max_length", None)
    found["end_ids"] = tuple(index for index in loaded.config.tokens.end if index < _vocab_size(loaded))
    if "bad_words" in given:
        found["bad_words"] = folder.get("bad_words", ()) + _bad_words(loaded, given["bad_words"])
    return DecodingSettings(**found)


def task_settings(loaded: Loaded, tasks: Sequence[str]) -> Mapping[str, Any]:
    """What config.json says of the first of these tasks that it knows."""
    every = as_record(loaded.checkpoint.foreign.get("task_specific_params"))
    nothing: Mapping[str, Any] = {}
    return next((as_record(every[task]) for task in tasks if as_record(every.get(task))), nothing)


def strings(name: str, value: object) -> tuple[str, ...]:
    """One string or several, as several.

    Raises:
        DecodingError: Something else.
    """
    many = as_items(value)
    if all(isinstance(item, str) for item in many):
        return tuple(many)
    raise DecodingError(f"{name} is not text", got=repr(value)[:100], expected="a string, or a list of strings")


def _asked(asked: Mapping[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for name, value in asked.items():
        if name not in _KNOWN:
            raise DecodingError(
                f"{name} is not an option of decoding", got=name, expected=", ".join(sorted(_KNOWN)),
                advice=nearest(name, _KNOWN),
            )  # fmt: skip
        if value is not None:
            given[name] = _typed(name, value)
    return given


def _settle(found: dict[str, Any], given: Mapping[str, Any]) -> None:
    """What is asked for switches off what it does not go with, unless that is asked for too."""
    draws = given.get("sample", "beams" not in given and any(name in given for name in _DRAWING))
    if draws:
        found["sample"] = True
    if found.get("temperature") == 0:
        found["sample"] = False
    if "beams" not in given and (draws or given.get("stop")):
        found["beams"] = 1
    if found.get("beams", 1) > 1 and not given.get("sample"):
        found["sample"] = False
    if "n_best" in given and "beams" not in given and not found.get("sample"):
        found["beams"] = max(found.get("beams", 1), given["n_best"])


def _of_folder(loaded: Loaded, tasks: Sequence[str]) -> dict[str, Any]:
    says = {**loaded.defaults, **task_settings(loaded, tasks)}
    found: dict[str, Any] = {}
    for theirs, ours in FOREIGN.items():
        value = says.get(theirs)
        if value is None or (theirs == "max_length" and value == _BARE_LENGTH):
            continue
        found[ours] = _of_key(theirs, ours, value)
    if loaded.config.family is Family.ENCODER_DECODER:
        least = _of_key("min_length", "min_new_tokens", says.get("min_length") or 0)
        found.setdefault("min_new_tokens", max(0, least - 1))  # there the start of the target counts
    else:
        found.pop("max_length", None)  # it counts the prompt, which may be longer already
    if bad := says.get("bad_words_ids"):
        found["bad_words"] = tuple(_ids(loaded, "bad_words_ids", word) for word in as_items(bad))
    if (first := says.get("forced_bos_token_id")) is not None:
        found["forced_start"] = _ids(loaded, "forced_bos_token_id", first)[:1]
    if (last := says.get("forced_eos_token_id")) is not None:
        found["forced_end"] = _ids(loaded, "forced_eos_token_id", last)[0]
    return found


def _of_key(theirs: str, ours: str, value: Any) -> Any:
    """A value of the folder, checked by itself, so that the message names the folder's own key."""
    try:
        return _typed(ours, value)
    except ClearheadError as error:
        raise WeightsError(
            f"what the folder says of decoding cannot be followed: {theirs}",
            got=repr(value)[:100],
            expected=error.expected,
            advice="correct it in generation_config.json",
        ) from None


def _ids(loaded: Loaded, key: str, value: Any) -> tuple[int, ...]:
    ids = as_items(value)
    if not ids or not all(type(index) is int and 0 <= index < _vocab_size(loaded) for index in ids):
        raise WeightsError(
            f"what the folder says of decoding cannot be followed: {key}",
            got=repr(value)[:100],
            expected=f"ids from 0 to {_vocab_size(loaded) - 1}",
            advice="correct it in generation_config.json",
        )
    return tuple(ids)


def _typed(name: str, value: Any) -> Any:
    """A value in the form that an option has, checked by itself.

    Raises:
        DecodingError: It is of another kind, or out of range.
    """
    if name in ("stop", "bad_words"):
        return strings(name, value)
    if name == "early_stopping":
        value = _EARLY[value] if isinstance(value, bool) else value
        fits, expected = value in list(EarlyStopping), f"True, False, {', '.join(EarlyStopping)}"
        value = EarlyStopping(value) if fits else value
    elif name == "sample":
        fits, expected = isinstance(value, bool), "True or False"
    elif name == "forced_start":
        value = tuple(as_items(value))
        fits, expected = all(type(index) is int for index in value), "ids"
    elif name in _REALS:
        fits, expected = isinstance(value, (int, float)) and not isinstance(value, bool), "a number"
        value = float(value) if fits else value
    else:
        fits, expected = isinstance(value, int) and not isinstance(value, bool), "a whole number"
    if not fits:
        raise DecodingError(f"{name} has a value of another kind", got=repr(value)[:100], expected=expected)
    alone: dict[str, Any] = {"beams": value, name: value} if name == "n_best" else {name: value}
    DecodingSettings(**alone)
    return value


def _bad_words(loaded: Loaded, words: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Each word as it is spelt at the beginning of a text and after a space."""
    tokenizer = loaded.tokenizer.target
    spelt = [form for word in words for form in (word, f" {word}")]
    ids = [tokenizer.encode(form, add_special=False, literal=True).ids for form in spelt]
    return tuple(dict.fromkeys(found for found in ids if found))


def _vocab_size(loaded: Loaded) -> int:
    return loaded.config.output_stack.embedding.vocab_size
