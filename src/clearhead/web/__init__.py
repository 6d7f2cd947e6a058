"""The page: a local server, and a living Transformer in the browser.

Takes: requests from this computer's browser: a text, a model, what to look at or to change.
Gives: runs as JSON and as numbers, the arithmetic of any of them, the course; the page itself.
Uses:  model, explain, trace, lessons, training, tasks, weights, axes, errors; starlette, uvicorn.
Never: a request from another site, a path of a user's, a resource from elsewhere.
"""

from clearhead.web.app import make_app
from clearhead.web.serve import serve_page
from clearhead.web.shelf import Shelf

__all__ = ["Shelf", "make_app", "serve_page"]
