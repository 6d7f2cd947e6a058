"""What happened so far, in the form that Prometheus reads."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


class Metrics:
    """Counters of one server; two servers in one process do not mix."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self.requests = Counter(
            "clearhead_requests", "Requests.", ["endpoint", "method", "status"], registry=self._registry
        )
        self.seconds = Histogram(
            "clearhead_request_seconds",
            "From a request to the end of its answer.",
            ["endpoint"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self.first_token = Histogram(
            "clearhead_first_token_seconds",
            "From a request to its first token.",
            ["model"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self.tokens = Counter(
            "clearhead_tokens", "Tokens, read or written.", ["model", "kind"], registry=self._registry
        )
        self.running = Gauge("clearhead_requests_running", "Requests that are being answered.", registry=self._registry)
        self.jobs = Gauge("clearhead_jobs_pending", "Jobs that run or wait for a thread.", registry=self._registry)
        self.rows = Gauge("clearhead_rows", "Texts that are being written.", ["model"], registry=self._registry)
        self.waiting = Gauge("clearhead_rows_waiting", "Texts that wait.", ["model"], registry=self._registry)
        self.loaded = Gauge("clearhead_models_loaded", "Models that are in memory.", registry=self._registry)

    def text(self) -> bytes:
        """All of it."""
        return generate_latest(self._registry)
