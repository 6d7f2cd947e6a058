"""Which of several training processes this is; so far there is one."""

from dataclasses import dataclass

from clearhead.config.checks import require_size, require_types
from clearhead.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class World:
    """The place of a process among those that train one model.

    Attributes:
        rank: The number of this process, from 0.
        n_ranks: How many there are.
    """

    rank: int = 0
    n_ranks: int = 1

    def __post_init__(self) -> None:
        require_types(self)
        require_size("n_ranks", self.n_ranks)
        require_size("rank", self.rank, least=0, most=self.n_ranks - 1)
        if self.n_ranks > 1:
            raise ConfigError("training in several processes is not built yet", got=f"{self.n_ranks} processes")

    @property
    def is_first(self) -> bool:
        """Whether this is the process that writes files and talks."""
        return self.rank == 0

    def sum(self, number: float) -> float:
        """A number of this process, added up over all processes."""
        assert self.n_ranks == 1, "nothing to add it to yet"
        return number
