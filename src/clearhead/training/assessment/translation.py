"""A translator's measures: what it writes beside the references, and how likely it finds these."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from clearhead.data import Record
from clearhead.engine import Request
from clearhead.engine.limits import context_of
from clearhead.models import EncoderDecoder
from clearhead.tasks import translate
from clearhead.tasks.language_pairs import instruction
from clearhead.tasks.loaded import Loaded
from clearhead.tasks.options import settings_of
from clearhead.tasks.sources import source_ids
from clearhead.training.assessment.lengths import by_length, n_words
from clearhead.training.assessment.likelihood import TextLoss, likelihood_of
from clearhead.training.assessment.pairs import pair_losses
from clearhead.training.assessment.results import Findings, TranslationMeasures, Worst
from clearhead.training.assessment.settings import AssessmentSettings, Report
from clearhead.training.scores import translation_scores


def assess_translation(
    loaded: Loaded, records: Mapping[int, Record], *, settings: AssessmentSettings, report: Report
) -> Findings:
    """Translates every source, and measures.

    Args:
        loaded: The translator.
        records: Pairs, by their place in the file.
        settings: How.
        report: Told how far it is.
    """
    places = list(records)
    sources = [record.source for record in records.values()]
    references = [record.target or "" for record in records.values()]
    languages = [record.tag or settings.to for record in records.values()]
    for language in dict.fromkeys(languages):  # a language that is not known is told before hours of work
        instruction(loaded, to=language, source=settings.source)
    begun = time.perf_counter()
    outputs, n_divided = _translated(loaded, sources, languages, settings=settings, report=report)
    seconds = time.perf_counter() - begun
    losses = _reference_losses(loaded, sources, references, languages, settings=settings, report=report)
    read = [(reference, loss) for reference, loss in zip(references, losses, strict=True) if loss is not None]
    measures = TranslationMeasures(
        scores=translation_scores(outputs, references),
        references=likelihood_of([text for text, _ in read], [loss for _, loss in read]) if read else None,
        beams=settings.beams,
        whole=settings.whole,
        n_divided=n_divided,
        n_unread=len(references) - len(read),
    )

    def measure(group: list[int]) -> dict[str, float | None]:
        known = [loss for loss in (losses[place] for place in group) if loss is not None]
        scored = text_measures([outputs[place] for place in group], [references[place] for place in group])
        return {**scored, "perplexity": sum(known, TextLoss()).perplexity if known else None}

    return Findings(
        measures=measures,
        by_length=by_length(list(map(n_words, sources)), measure),
        worst=worst_translations(places, sources, outputs, references, n=settings.worst),
        worst_by="chrF of the sentence, the lowest first",
        seconds=seconds,
    )


def text_measures(outputs: Sequence[str], references: Sequence[str]) -> dict[str, float | None]:
    """BLEU and chrF of a few translations, as `translation_scores` computes them for all."""
    return {
        "bleu": BLEU().corpus_score(list(outputs), [list(references)]).score,
        "chrf": CHRF().corpus_score(list(outputs), [list(references)]).score,
    }


def worst_translations(
    places: Sequence[int], sources: Sequence[str], outputs: Sequence[str], references: Sequence[str], *, n: int
) -> tuple[Worst, ...]:
    """The translations that have least in common with their references."""
    chrf = CHRF()
    scores = [chrf.sentence_score(output, [known]).score for output, known in zip(outputs, references, strict=True)]
    return tuple(
        Worst(
            place=places[one],
            score=scores[one],
            texts=(sources[one],),
            output=outputs[one],
            expected=references[one],
        )
        for one in sorted(range(len(scores)), key=lambda one: (scores[one], one))[:n]
    )


def _translated(
    loaded: Loaded,
    sources: Sequence[str],
    languages: Sequence[str | None],
    *,
    settings: AssessmentSettings,
    report: Report,
) -> tuple[list[str], int]:
    """One translation for each source, and how many were divided on the way."""
    found: dict[int, str] = {}
    n_divided = 0
    for language in dict.fromkeys(languages):
        mine = [place for place, one in enumerate(languages) if one == language]
        for start in range(0, len(mine), settings.batch):
            chunk = mine[start : start + settings.batch]
            texts = [sources[place] for place in chunk]
            told = {"to": language, "source": settings.source}
            if settings.whole:
                found.update(zip(chunk, _written_whole(loaded, texts, told, beams=settings.beams), strict=True))
            else:
                results = translate(loaded, texts, **told, beams=settings.beams)
                found.update(zip(chunk, (one.text for one in results), strict=True))
                n_divided += sum(len(one.sentences) > 1 for one in results)
            report("translating", len(found), len(sources))
    return [found[place] for place in range(len(sources))], n_divided


def _written_whole(loaded: Loaded, texts: Sequence[str], told: Mapping[str, Any], *, beams: int) -> list[str]:
    """Translations of segments that are read at once, however many sentences they have."""
    how = instruction(loaded, **told)
    ways = settings_of(loaded, usual={}, asked={"beams": beams}, tasks=how.tasks)
    ids = source_ids(loaded, texts, prefix=how.prefix, tag=how.tag)
    replies = loaded.engine.generate([Request(ids=one, settings=ways) for one in ids])
    return [reply.best.text for reply in replies]


def _reference_losses(
    loaded: Loaded,
    sources: Sequence[str],
    references: Sequence[str],
    languages: Sequence[str | None],
    *,
    settings: AssessmentSettings,
    report: Report,
) -> list[TextLoss | None]:
    """The loss of each reference; None where it or its source does not fit the model's context."""
    network, tokens = loaded.engine.network, loaded.config.tokens
    assert isinstance(network, EncoderDecoder) and tokens.decoder_start is not None
    room = context_of(loaded.config.decoder)
    ends = loaded.tokenizer.target.special.end
    end = tokens.end[:1] if ends is None else (ends,)
    found: list[TextLoss | None] = [None] * len(sources)
    targets = [
        (*encoding.ids, *end)
        for encoding in loaded.tokenizer.target.encode_batch(references, add_special=False, literal=True)
    ]
    n_done = 0
    for language in dict.fromkeys(languages):
        how = instruction(loaded, to=language, source=settings.source)
        mine = [place for place, one in enumerate(languages) if one == language]
        ids = source_ids(loaded, [sources[place] for place in mine], prefix=how.prefix, tag=how.tag)
        fit = {
            place: one
            for place, one in zip(mine, ids, strict=True)
            if len(one) <= loaded.source_limit and (room is None or len(targets[place]) <= room)
        }
        losses = pair_losses(
            network,
            list(fit.values()),
            [targets[place] for place in fit],
            start_id=tokens.decoder_start,
            pad_id=tokens.pad or 0,
            report=lambda n, before=n_done: report("reading the references", before + n, len(sources)),
        )
        n_done += len(mine)
        for place, loss in zip(fit, losses, strict=True):
            found[place] = loss
    return found
