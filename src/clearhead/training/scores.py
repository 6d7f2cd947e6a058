"""How good outputs are, by the measures that papers report."""

from collections.abc import Sequence
from dataclasses import dataclass

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF


@dataclass(frozen=True, kw_only=True)
class TranslationScores:
    """BLEU and chrF, each with the signature that says how it was computed.

    Attributes:
        bleu: Cased, detokenised.
        bleu_signature: How.
        chrf: Cased.
        chrf_signature: How.
        bleu_lowercase: Lowercased and tokenised, as papers on small corpora report it.
        lowercase_signature: How.
    """

    bleu: float
    bleu_signature: str
    chrf: float
    chrf_signature: str
    bleu_lowercase: float
    lowercase_signature: str


def translation_scores(outputs: Sequence[str], expected: Sequence[str]) -> TranslationScores:
    """The scores of outputs beside what was expected, one expected text each."""
    bleu, chrf, lowercase = BLEU(), CHRF(), BLEU(lowercase=True)
    references = [list(expected)]
    return TranslationScores(
        bleu=bleu.corpus_score(list(outputs), references).score,
        bleu_signature=str(bleu.get_signature()),
        chrf=chrf.corpus_score(list(outputs), references).score,
        chrf_signature=str(chrf.get_signature()),
        bleu_lowercase=lowercase.corpus_score(list(outputs), references).score,
        lowercase_signature=str(lowercase.get_signature()),
    )
