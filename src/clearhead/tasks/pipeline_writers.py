"""The pipelines that write: translation, summarization, text2text-generation, text-generation.

Each takes a loaded model, what the user gave, and the options, and gives the keys that are widely known.
"""

from collections.abc import Callable, Mapping
from typing import Any

from clearhead.config import Family
from clearhead.tasks.completion import complete
from clearhead.tasks.conversation import chat
from clearhead.tasks.foreign_values import as_items
from clearhead.tasks.loaded import Loaded
from clearhead.tasks.pipeline_options import decoding_options, texts_of
from clearhead.tasks.summary import summarize
from clearhead.tasks.translation import translate

Options = Mapping[str, Any]
Record = dict[str, Any]


def run_translation(loaded: Loaded, inputs: Any, options: Options) -> list[Any]:
    """`translation_text` for each text; `src_lang` and `tgt_lang` choose the languages."""
    rest = dict(options)
    source, to = rest.pop("src_lang", None), rest.pop("tgt_lang", None)
    asked = decoding_options(loaded, rest)
    found = translate(loaded, texts_of(inputs), to=to, source=source, **asked)
    return _rows(
        [
            [{"translation_text": way.text} for way in one.alternatives] or [{"translation_text": one.text}]
            for one in found
        ]
    )


def run_summarization(loaded: Loaded, inputs: Any, options: Options) -> list[Any]:
    """`summary_text` for each text; an encoder, which picks sentences, has no use for options of decoding."""
    if loaded.config.family is Family.ENCODER_ONLY:
        found = summarize(loaded, texts_of(inputs), sentences=options.get("sentences"))
    else:
        found = summarize(loaded, texts_of(inputs), **decoding_options(loaded, options))
    return [{"summary_text": one.text} for one in found]


def run_text_to_text(loaded: Loaded, inputs: Any, options: Options) -> list[Any]:
    """`generated_text` for each source."""
    return _rows([[{"generated_text": text} for text in texts] for texts in _completed(loaded, inputs, options)])


def run_text_generation(loaded: Loaded, inputs: Any, options: Options) -> list[Any]:
    """`generated_text` for each text or conversation: what was given and what follows, or only what follows."""
    rest = dict(options)
    whole = rest.pop("return_full_text", None)
    whole = True if whole is None else bool(whole)
    if _is_conversation(inputs):
        return _answered(loaded, inputs, rest, whole=whole)
    if all(_is_conversation(item) for item in as_items(inputs)):
        return [_answered(loaded, item, rest, whole=whole) for item in as_items(inputs)]
    texts = texts_of(inputs)
    rows = [
        [{"generated_text": (text if whole else "") + new} for new in several]
        for text, several in zip(texts, _completed(loaded, inputs, rest), strict=True)
    ]
    return rows[0] if isinstance(inputs, str) else rows


def _completed(loaded: Loaded, inputs: Any, options: Options) -> list[list[str]]:
    asked = decoding_options(loaded, options)
    n = asked.pop("n_best", None) or 1
    return [[one.text for one in several] for several in complete(loaded, texts_of(inputs), n=n, **asked)]


def _answered(loaded: Loaded, messages: Any, options: Options, *, whole: bool) -> list[Record]:
    written = chat(loaded, messages, **decoding_options(loaded, options))
    answer = {"role": "assistant", "content": written.text}
    return [{"generated_text": [*messages, answer] if whole else written.text}]


def _is_conversation(inputs: Any) -> bool:
    return not isinstance(inputs, Mapping) and all(isinstance(item, Mapping) for item in as_items(inputs))


def _rows(rows: list[list[Record]]) -> list[Any]:
    """One record for each text; where several were asked for, a list of them for each."""
    if len(rows) == 1:
        return rows[0]
    return [row[0] for row in rows] if all(len(row) == 1 for row in rows) else rows


WRITERS: Mapping[str, Callable[[Loaded, Any, Options], Any]] = {
    "translation": run_translation,
    "summarization": run_summarization,
    "text2text-generation": run_text_to_text,
    "text-generation": run_text_generation,
}
