"""Work on several batches at a time, a thread for each.

Between the products of a step there is work for one thread alone. Where there are several batches, one of them can
multiply while another chooses its words: that uses processors better than sharing out each product.
"""

import contextvars
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

import torch

Item = TypeVar("Item")
Result = TypeVar("Result")

_MOST_THREADS = 4
"""With more, threads would wait for each other between products; each product has work for all of them."""

_pools: dict[tuple[int, int], ThreadPoolExecutor] = {}
_making = threading.Lock()


def pays(n_batches: int) -> bool:
    """Whether so many batches keep all threads busy."""
    return 1 < torch.get_num_threads() <= min(n_batches, _MOST_THREADS)


def side_by_side(
    work: Callable[[Item, Callable[[], bool]], Result], items: Sequence[Item], *, cancelled: Callable[[], bool]
) -> list[Result]:
    """What `work` gives for every item, in their order; the first that fails stops all of them.

    Args:
        work: Takes an item, and what it asks now and then: once that is True, it ends where it is.
        items: What to work on, the longest work first.
        cancelled: The same, asked by whoever called; one thread at a time.
    """
    n_threads = torch.get_num_threads()
    stopped, asking = threading.Event(), threading.Lock()

    def stop() -> bool:
        with asking:
            return stopped.is_set() or cancelled()

    def one(item: Item) -> Result:
        try:
            return work(item, stop)
        except BaseException:
            stopped.set()
            raise

    pool, made = _pool(n_threads), list[Future[Result]]()
    try:
        for item in items:
            made.append(pool.submit(contextvars.copy_context().run, one, item))
        return [each.result() for each in made]
    except BaseException:
        stopped.set()
        raise
    finally:
        _leave(made, n_threads)


def one_by_one(work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """What `work` gives for every item, in their order, as it is asked for; a few are worked on ahead of that."""
    n_threads = torch.get_num_threads()
    waiting: deque[Future[Result]] = deque()
    pool = _pool(n_threads)
    try:
        for item in items:
            waiting.append(pool.submit(contextvars.copy_context().run, work, item))
            if len(waiting) > 2 * n_threads:
                yield _first_of(waiting)
        while waiting:
            yield _first_of(waiting)
    finally:
        _leave(waiting, n_threads)


def _first_of(waiting: deque[Future[Result]]) -> Result:
    """What the first gives; until then it is among those that are waited for."""
    found = waiting[0].result()
    waiting.popleft()
    return found


def _leave(made: Iterable[Future[Result]], n_threads: int) -> None:
    """Takes back what nobody has begun, and waits for the rest; then torch has the threads that it had."""
    try:
        wait([each for each in made if not each.cancel()])
    finally:
        torch.set_num_threads(n_threads)  # threads that begin later ask what was set last, by whichever thread


def _pool(n_threads: int) -> ThreadPoolExecutor:
    """Threads that multiply by themselves; they stay, and so does the memory that kernels keep for each."""
    key = (os.getpid(), n_threads)
    with _making:
        if key not in _pools:
            made = ThreadPoolExecutor(n_threads, thread_name_prefix="batch", initializer=_be_alone)
            all_here = threading.Barrier(n_threads)  # none begins later and then sets what others have set since
            try:
                wait([made.submit(all_here.wait) for _ in range(n_threads)])
            except BaseException:
                all_here.abort()
                made.shutdown(wait=False, cancel_futures=True)
                raise
            _pools[key] = made
        return _pools[key]


def _be_alone() -> None:
    """Lets this thread multiply by itself, for good: one that first asks later takes what any thread has set last."""
    torch.set_num_threads(1)
    torch.get_num_threads()
    torch.set_num_threads(1)
