"""The document at /openapi.json, made from the endpoints themselves."""

from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from clearhead import __version__
from clearhead.web.api.endpoint import EVENTS, FORM, SAFETENSORS, Endpoint
from clearhead.web.api.faults import JSON
from clearhead.web.api.state_shapes import Fault, OpenAIFault

_WHERE = "#/components/schemas/{model}"
_FAULTS = {
    400: "A request that cannot be followed.",
    401: "A token is needed.",
    403: "A request from another site.",
    404: "No such model.",
    408: "The request took too long to arrive.",
    413: "A request that is too large.",
    415: "A request of another kind.",
    429: "Too much at once; Retry-After says when to come again.",
    500: "A mistake of the server, or a model that cannot be loaded.",
    503: "The server is stopping.",
    504: "The request took too long.",
}


def openapi(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """The document of endpoints."""
    inputs: list[tuple[Any, JsonSchemaMode, TypeAdapter[Any]]] = []
    for kind, mode in _shapes(endpoints):
        inputs.append((_key(kind, mode), mode, TypeAdapter(kind)))
    schemas, definitions = TypeAdapter.json_schemas(inputs, ref_template=_WHERE)
    known = {key: schema for (key, _), schema in schemas.items()}
    paths: dict[str, Any] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path.replace(":path", ""), {})[endpoint.method.lower()] = _operation(endpoint, known)
    return {
        "openapi": "3.1.0",
        "info": {"title": "clearhead", "version": __version__, "license": {"name": "Apache-2.0"}},
        "paths": paths,
        "components": {
            "schemas": definitions.get("$defs", {}),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _shapes(endpoints: Sequence[Endpoint]) -> list[tuple[Any, JsonSchemaMode]]:
    found: dict[str, tuple[Any, JsonSchemaMode]] = {}
    for endpoint in endpoints:
        wanted: list[tuple[Any, JsonSchemaMode]] = [
            (endpoint.asked, "validation"),
            (endpoint.forms, "validation"),
            (endpoint.gives, "serialization"),
            (endpoint.chunk, "serialization"),
            (Fault, "serialization"),
            (OpenAIFault, "serialization"),
        ]
        found.update({_key(kind, mode): (kind, mode) for kind, mode in wanted if kind is not None})
    return list(found.values())


def _key(kind: Any, mode: JsonSchemaMode) -> str:
    return f"{kind} {mode}"


def _operation(endpoint: Endpoint, known: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    if endpoint.gives is None:
        content["text/plain"] = {"schema": {"type": "string"}}
    else:
        content[JSON] = {"schema": known[_key(endpoint.gives, "serialization")]}
    if endpoint.chunk is not None:
        shape = endpoint.chunk.__name__
        content[EVENTS] = {"schema": {"type": "string", "description": f"Events, each a {shape}; the last is [DONE]."}}
    if endpoint.safetensors:
        content[SAFETENSORS] = {"schema": {"type": "string", "format": "binary"}}
    fault = known[_key(OpenAIFault if endpoint.path.startswith("/v1/") else Fault, "serialization")]
    responses: dict[str, Any] = {"200": {"description": "The answer.", "content": content}}
    for status, meaning in _FAULTS.items():
        responses[str(status)] = {"description": meaning, "content": {JSON: {"schema": fault}}}
    for status in endpoint.statuses:
        responses[str(status)] = {"description": "The same, when it is not so.", "content": content}
    responses["429"]["headers"] = {"Retry-After": {"schema": {"type": "string"}, "required": True}}
    operation: dict[str, Any] = {
        "summary": endpoint.summary,
        "operationId": f"{endpoint.method.lower()}{endpoint.path}".replace("/", "_").strip("{}"),
        "responses": responses,
    }
    if endpoint.asked is not None:
        schema = known[_key(endpoint.asked, "validation")]
        body: dict[str, Any] = {JSON: {"schema": schema}}
        if endpoint.forms is not None:
            body[FORM] = {"schema": known[_key(endpoint.forms, "validation")]}
        operation["requestBody"] = {"required": True, "content": body}
    names = [part[1:-1].partition(":")[0] for part in endpoint.path.split("/") if part.startswith("{")]
    if names:
        operation["parameters"] = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names
        ]
    return operation
