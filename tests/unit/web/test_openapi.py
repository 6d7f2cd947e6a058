"""The document says what the server does: thousands of ways to follow and to break it, tried on a live server."""

import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from clearhead.web.api.openapi import openapi
from clearhead.web.api.server import endpoints

from .live_server import LiveServer

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
EXAMPLES = 12


DOCUMENT = openapi(endpoints())
schema = schemathesis.openapi.from_dict(DOCUMENT)


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_the_document_is_kept(case: schemathesis.Case, tiny_server: LiveServer) -> None:
    case.call_and_validate(base_url=tiny_server.url, checks=CHECKS, timeout=60)


def test_everything_that_is_asked_for_in_the_design_is_there(tiny_server: LiveServer) -> None:
    document = tiny_server.get("/openapi.json").json()
    assert document == DOCUMENT
    paths = document["paths"]
    tasks = "translate languages summarize answer classify fill search attention trace why edit health ready metrics"
    expected = {f"/{task}" for task in tasks.split()}
    expected |= {f"/v1/{name}" for name in ("models", "completions", "chat/completions", "embeddings")}
    assert expected <= set(paths)
