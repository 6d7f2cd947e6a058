"""Training: from batches to a finished run, on time and never lost.

Takes: a network, an objective, a feed of batches, settings, a run's folder.
Gives: the network with its best weights; a folder of checkpoints and a log that the next process can go on with.
Uses:  tasks, engine, decoding, weights, data, figures, models, nn, text, config, probe, errors; torch, yaml.
Never: a pickle; a checkpoint that is half written; a random number that depends on what happened before its step.

    open_run ── Trainer ── Stepper ── objective ── loss
                   ├── Judge ── evaluation, averages
                   └── Checkpoints, MetricsLog, Clock, Progress
"""

from typing import TYPE_CHECKING

from clearhead.doors import open_lazily

if TYPE_CHECKING:  # for type checkers and editors; at run time the doors below open these one by one
    from clearhead.training.average import MovingAverage as MovingAverage
    from clearhead.training.checkpoint import Checkpoints as Checkpoints
    from clearhead.training.checkpoint import Snapshot as Snapshot
    from clearhead.training.encoder_objective import ClassifyObjective as ClassifyObjective
    from clearhead.training.encoder_objective import MaskedLanguageModelObjective as MaskedLanguageModelObjective
    from clearhead.training.encoder_objective import SimilarityObjective as SimilarityObjective
    from clearhead.training.evaluate import LossEvaluation as LossEvaluation
    from clearhead.training.feed import Feed as Feed
    from clearhead.training.feed import RecordFeed as RecordFeed
    from clearhead.training.feed import WindowFeed as WindowFeed
    from clearhead.training.fine_tune import with_head as with_head
    from clearhead.training.flops import cost_of as cost_of
    from clearhead.training.flops import matmul_peak as matmul_peak
    from clearhead.training.job import Job as Job
    from clearhead.training.job import make_job as make_job
    from clearhead.training.loop import Trainer as Trainer
    from clearhead.training.metrics import MetricsLog as MetricsLog
    from clearhead.training.metrics import read_metrics as read_metrics
    from clearhead.training.objective import LanguageModelObjective as LanguageModelObjective
    from clearhead.training.objective import LossParts as LossParts
    from clearhead.training.objective import Objective as Objective
    from clearhead.training.objective import TranslateObjective as TranslateObjective
    from clearhead.training.outcome import Outcome as Outcome
    from clearhead.training.presets import train_preset as train_preset
    from clearhead.training.progress import LiveProgress as LiveProgress
    from clearhead.training.progress import Progress as Progress
    from clearhead.training.run import RunFolder as RunFolder
    from clearhead.training.run import open_run as open_run
    from clearhead.training.settings import TrainSettings as TrainSettings
    from clearhead.training.settings_file import make_settings as make_settings
    from clearhead.training.settings_file import override as override
    from clearhead.training.settings_file import parse_duration as parse_duration
    from clearhead.training.settings_file import read_yaml as read_yaml
    from clearhead.training.state import Status as Status

_DOORS = {
    "Checkpoints": "clearhead.training.checkpoint",
    "ClassifyObjective": "clearhead.training.encoder_objective",
    "Feed": "clearhead.training.feed",
    "Job": "clearhead.training.job",
    "LanguageModelObjective": "clearhead.training.objective",
    "LiveProgress": "clearhead.training.progress",
    "LossEvaluation": "clearhead.training.evaluate",
    "LossParts": "clearhead.training.objective",
    "MaskedLanguageModelObjective": "clearhead.training.encoder_objective",
    "MetricsLog": "clearhead.training.metrics",
    "MovingAverage": "clearhead.training.average",
    "Objective": "clearhead.training.objective",
    "Outcome": "clearhead.training.outcome",
    "Progress": "clearhead.training.progress",
    "RecordFeed": "clearhead.training.feed",
    "RunFolder": "clearhead.training.run",
    "SimilarityObjective": "clearhead.training.encoder_objective",
    "Snapshot": "clearhead.training.checkpoint",
    "Status": "clearhead.training.state",
    "TrainSettings": "clearhead.training.settings",
    "Trainer": "clearhead.training.loop",
    "TranslateObjective": "clearhead.training.objective",
    "WindowFeed": "clearhead.training.feed",
    "cost_of": "clearhead.training.flops",
    "make_job": "clearhead.training.job",
    "make_settings": "clearhead.training.settings_file",
    "matmul_peak": "clearhead.training.flops",
    "open_run": "clearhead.training.run",
    "override": "clearhead.training.settings_file",
    "parse_duration": "clearhead.training.settings_file",
    "read_metrics": "clearhead.training.metrics",
    "read_yaml": "clearhead.training.settings_file",
    "train_preset": "clearhead.training.presets",
    "with_head": "clearhead.training.fine_tune",
}

if not TYPE_CHECKING:
    __all__ = list(_DOORS)

__getattr__, __dir__ = open_lazily(__name__, _DOORS)
