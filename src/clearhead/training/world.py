"""Which of several training processes this is, and how they come to know the same."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from clearhead.config.checks import require_size, require_types
from clearhead.errors import ClearheadError, TrainingError

Answer = TypeVar("Answer")


@dataclass(frozen=True, kw_only=True)
class World:
    """The place of a process among those that train one model.

    Every method that asks all processes must be called by all of them, in the same order; for one alone none of them
    does anything, and torch's distributed engine is not imported.

    Attributes:
        rank: The number of this process, from 0.
        n_ranks: How many there are.
        local_rank: The number of this process on its machine, which is also that of its accelerator.
        shard: Whether weights, gradients and what the optimiser remembers are divided among the processes.
        device: Where this process computes: a torch device's name.
    """

    rank: int = 0
    n_ranks: int = 1
    local_rank: int = 0
    shard: bool = False
    device: str = "cpu"

    def __post_init__(self) -> None:
        require_types(self)
        require_size("n_ranks", self.n_ranks)
        require_size("rank", self.rank, least=0, most=self.n_ranks - 1)
        require_size("local_rank", self.local_rank, least=0, most=self.rank)

    @property
    def is_first(self) -> bool:
        """Whether this is the process that writes files and talks."""
        return self.rank == 0

    @property
    def is_alone(self) -> bool:
        """Whether there is no other."""
        return self.n_ranks == 1

    def sums(self, *numbers: float | int) -> tuple[float | int, ...]:
        """Numbers of this process, each added up over all processes."""
        return numbers if self.is_alone else self._reduced(numbers, "SUM")

    def largest(self, *numbers: float | int) -> tuple[float | int, ...]:
        """The largest that any process has of each number."""
        return numbers if self.is_alone else self._reduced(numbers, "MAX")

    def on_first(self, work: Callable[[], Answer]) -> Answer:
        """What the first process makes of some work: plain data, which all are told.

        The others wait for it as long as it takes.

        Raises:
            ClearheadError: What the work raised, in every process.
        """
        if self.is_alone:
            return work()
        answer: dict[str, Any] = {}
        found: ClearheadError | None = None
        if self.is_first:
            try:
                answer = {"value": work()}
            except ClearheadError as error:
                found, answer = error, {"error": _spelled(error)}
        answer = self._told(answer)
        if found is not None:
            raise found
        if "error" in answer:
            raise TrainingError(**answer["error"])
        return answer["value"]

    def _reduced(self, numbers: tuple[float | int, ...], kind: str) -> tuple[float | int, ...]:
        import torch  # noqa: PLC0415
        from torch import distributed  # noqa: PLC0415  (only where there are others)

        # Float64 holds every count below 2^53 exactly.
        values = torch.tensor(numbers, dtype=torch.float64)
        engine = cast(Any, distributed)  # whose functions are not typed
        engine.all_reduce(values, op=getattr(engine.ReduceOp, kind))
        return tuple(float(value) for value in values)

    def _told(self, data: Any) -> Any:
        """What the first process says, as JSON: nothing that comes over the network is unpickled."""
        import torch  # noqa: PLC0415
        from torch import distributed  # noqa: PLC0415

        said = torch.frombuffer(bytearray(json.dumps(data).encode("utf-8")), dtype=torch.uint8)
        length = torch.tensor([len(said)])
        engine = cast(Any, distributed)
        engine.broadcast(length, src=0)
        heard = said if self.is_first else torch.empty(int(length), dtype=torch.uint8)
        engine.broadcast(heard, src=0)
        return json.loads(heard.numpy().tobytes())


def _spelled(error: ClearheadError) -> dict[str, str | None]:
    parts = {"got": error.got, "expected": error.expected, "advice": error.advice}
    return {"problem": error.problem, **{name: None if part is None else str(part) for name, part in parts.items()}}
