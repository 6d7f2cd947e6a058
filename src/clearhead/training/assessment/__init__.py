"""Assessment: how good a finished model is on a file that it has never seen.

Takes: a loaded model, records, settings.
Gives: an Assessment: measures, the same by length, and the worst examples; as data, and as lines to read.
Uses:  tasks, engine, data, training.scores; sacrebleu, scikit-learn, scipy.
Never: another way to run a model than the one that its users have.
"""

from typing import TYPE_CHECKING

from clearhead.doors import open_lazily

if TYPE_CHECKING:  # for type checkers and editors; at run time the doors below open these one by one
    from clearhead.training.assessment.assess import assess as assess
    from clearhead.training.assessment.assess import task_of as task_of
    from clearhead.training.assessment.lengths import by_length as by_length
    from clearhead.training.assessment.pairs import pair_losses as pair_losses
    from clearhead.training.assessment.printed import printed as printed
    from clearhead.training.assessment.results import Assessment as Assessment
    from clearhead.training.assessment.settings import AssessmentSettings as AssessmentSettings

_DOORS = {
    "Assessment": "clearhead.training.assessment.results",
    "AssessmentSettings": "clearhead.training.assessment.settings",
    "assess": "clearhead.training.assessment.assess",
    "by_length": "clearhead.training.assessment.lengths",
    "pair_losses": "clearhead.training.assessment.pairs",
    "printed": "clearhead.training.assessment.printed",
    "task_of": "clearhead.training.assessment.assess",
}

if not TYPE_CHECKING:
    __all__ = list(_DOORS)

__getattr__, __dir__ = open_lazily(__name__, _DOORS)
