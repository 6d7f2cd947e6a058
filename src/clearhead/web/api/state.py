"""`/health`, `/ready` and `/metrics`: how the server is."""

from starlette.responses import Response

from clearhead.web.api.endpoint import Call, Endpoint
from clearhead.web.api.faults import JSON
from clearhead.web.api.state_shapes import Health, Ready

_PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


def state_endpoints() -> list[Endpoint]:
    """The endpoints."""
    return [
        Endpoint(path="/health", summary="Says that the server answers.", answer=_health, method="GET", gives=Health),
        Endpoint(
            path="/ready",
            summary="Says whether requests are taken.",
            answer=_ready,
            method="GET",
            gives=Ready,
            statuses=(503,),
        ),
        Endpoint(path="/metrics", summary="Counts, for Prometheus.", answer=_metrics, method="GET"),
    ]


async def _health(call: Call, _: None) -> Health:
    del call
    return Health()


async def _ready(call: Call, _: None) -> Response:
    desk = call.desk
    state = Ready(status="stopping" if desk.stopping else "ready", models=desk.shelf.names, loaded=desk.shelf.loaded)
    return Response(state.model_dump_json(), 503 if desk.stopping else 200, media_type=JSON)


async def _metrics(call: Call, _: None) -> Response:
    desk, metrics = call.desk, call.desk.metrics
    metrics.loaded.set(len(desk.shelf.loaded))
    metrics.jobs.set(sum(pool.pending for pool in (desk.workers, desk.starters, desk.lookers)))
    for name, load in desk.loads().items():
        metrics.rows.labels(model=name).set(load.rows)
        metrics.waiting.labels(model=name).set(load.waiting)
    return Response(metrics.text(), headers={"Content-Type": _PROMETHEUS})
