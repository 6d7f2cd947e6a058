"""The server for other programs: OpenAI's and LibreTranslate's shapes, our own tasks, and what happens inside.

Takes: HTTP requests; models by the names that the server was started with.
Gives: JSON that follows the document at /openapi.json, events as tokens come, traces as safetensors, metrics.
Uses:  model, explain, trace, tasks, engine, weights, errors, web's shelf and guard; starlette, uvicorn, pydantic.
Never: model work on the event loop; a path of a user's; a user's text in a log, unless asked.
"""

from clearhead.web.api.bounds import ServeSettings
from clearhead.web.api.server import make_server_app, serve

__all__ = ["ServeSettings", "make_server_app", "serve"]
