"""`/translate` and `/languages`, in the shape that LibreTranslate's clients know."""

from clearhead import tasks
from clearhead.model import Model
from clearhead.tasks import Translation, languages
from clearhead.tasks.defaults import EMBEDDED
from clearhead.tasks.language_names import NAMES, code_of
from clearhead.web.api.desk import Desk
from clearhead.web.api.endpoint import Call, Endpoint
from clearhead.web.api.faults import Refusal
from clearhead.web.api.shape import Decoding, listed
from clearhead.web.api.task_shapes import SpokenLanguage, TranslateAsked, Translated, TranslateForm
from clearhead.weights.catalogue import read_family

_AUTO = "auto"
_TRANSLATORS = ("marian", "t5")
_READS = {EMBEDDED["translate"]: ("en",)}
"""What models read whose folders do not say it."""


def translation_endpoints() -> list[Endpoint]:
    """The endpoints."""
    return [
        Endpoint(
            path="/translate",
            summary="Translates texts.",
            answer=_translate,
            asked=TranslateAsked,
            gives=Translated,
            forms=TranslateForm,
        ),
        Endpoint(
            path="/languages",
            summary="Lists languages, and what each can be translated into.",
            answer=_languages,
            method="GET",
            gives=list[SpokenLanguage],
        ),
    ]


async def _translate(call: Call, asked: TranslateForm) -> Translated:
    if not isinstance(asked, TranslateAsked):
        asked = TranslateAsked(**asked.model_dump(), decoding=Decoding())
    _check_key(call, asked.api_key)
    texts, n = listed(asked.q), asked.alternatives
    options = asked.decoding.options()
    if n:
        options = {**options, "n_best": n + 1, "beams": max(n + 1, options.get("beams", 4))}

    def translate() -> tuple[str, list[Translation]]:
        model = _translator(call.desk, asked.model, asked.target)
        source = None if asked.source == _AUTO else asked.source
        loaded = call.desk.served(model)
        return model.name, tasks.translate(loaded, texts, to=asked.target, source=source, **options)

    name, found = await call.work(translate)
    n_tokens = sum(len(one.tokens) for translated in found for one in translated.sentences)
    call.desk.metrics.tokens.labels(model=name, kind="written").inc(n_tokens)
    call.note(model=name, tokens_written=n_tokens, **({"text": asked.q} if call.desk.settings.log_text else {}))
    others = [[way.text for way in translated.alternatives[1 : n + 1]] for translated in found]
    if isinstance(asked.q, str):
        return Translated(translatedText=found[0].text, alternatives=others[0] if n else None)
    return Translated(translatedText=[one.text for one in found], alternatives=others if n else None)


async def _languages(call: Call, _: None) -> list[SpokenLanguage]:
    return await call.work(lambda: spoken(call.desk))


def spoken(desk: Desk) -> list[SpokenLanguage]:
    """The languages of all models here that translate."""
    targets: dict[str, set[str]] = {}
    for name in _translators(desk):
        sources, written = languages(desk.model(name).loaded)
        for source in sources or _READS.get(name, ()):
            targets.setdefault(source, set()).update(written)
    return [
        SpokenLanguage(code=code, name=NAMES.get(code, code), targets=sorted(found - {code}))
        for code, found in sorted(targets.items())
    ]


def _translator(desk: Desk, name: str | None, target: str) -> Model:
    """The model that was named; otherwise the first here that writes the language, or else the first at all."""
    if name is not None:
        return desk.model(name)
    goal = code_of(target)
    models = [desk.model(one) for one in _translators(desk)]
    fitting = [model for model in models if goal in map(code_of, languages(model.loaded)[1])]
    return (fitting or models or [desk.model_for(None, "translate")])[0]


def _translators(desk: Desk) -> list[str]:
    """The models here that translate, by what their folders say of themselves."""
    kinds = {name: read_family(desk.shelf.folder(name)) for name in desk.shelf.names}
    return [name for name, kind in kinds.items() if kind in _TRANSLATORS]


def _check_key(call: Call, key: str | None) -> None:
    """Lets in whoever brings a token in the body, since clients of this shape know no headers."""
    if not call.desk.keys.needed or call.request.scope["clearhead"].get("client"):
        return
    holder = call.desk.keys.holder(key or "")
    if holder is None:
        raise Refusal(status=401, problem="a token is needed", expected="api_key, or a header: Authorization: Bearer …")
    call.note(client=holder)
    call.errand.client = holder
    wait = call.desk.rates.take(holder)
    if wait is not None:
        raise Refusal(status=429, problem="too many requests of this token", retry_after=wait)
