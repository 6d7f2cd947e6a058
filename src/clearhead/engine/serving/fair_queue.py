"""Who is next: clients take turns, and each client's requests keep their order."""

from collections import deque
from threading import Lock

from clearhead.engine.serving.jobs import Job


class FairQueue:
    """Jobs that wait for rows, by client; any thread may add, one takes."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._clients: dict[str, deque[Job]] = {}  # the client whose turn it is comes first
        self._n_jobs = 0

    def __len__(self) -> int:
        return self._n_jobs

    def jobs(self) -> list[Job]:
        """All jobs, client by client."""
        with self._lock:
            return [job for jobs in self._clients.values() for job in jobs]

    def push(self, job: Job) -> None:
        """Adds a job behind the others of its client; a client that had none comes last."""
        with self._lock:
            self._clients.setdefault(job.asked.client, deque()).append(job)
            self._n_jobs += 1

    def peek(self) -> Job | None:
        """The job that is next."""
        with self._lock:
            return next((jobs[0] for jobs in self._clients.values()), None)

    def pop(self) -> Job:
        """Takes the next job; its client comes last now."""
        with self._lock:
            client = next(iter(self._clients))
            jobs = self._clients.pop(client)
            job = jobs.popleft()
            if jobs:
                self._clients[client] = jobs
            self._n_jobs -= 1
            return job

    def remove(self, job: Job) -> None:
        """Takes a job out of its place."""
        with self._lock:
            jobs = self._clients[job.asked.client]
            jobs.remove(job)
            if not jobs:
                del self._clients[job.asked.client]
            self._n_jobs -= 1
