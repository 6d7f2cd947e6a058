"""Serving: many requests, one engine, in a batch that they join and leave between steps.

Takes: an engine, or an encoder; requests from any thread.
Gives: events as they come, or a failure that says why; what was read; how much is going on.
Uses:  the rest of the engine, decoding, models, nn, errors; torch.
Never: an answer that depends on what runs beside it; a protocol of the network.
"""

from clearhead.engine.serving.limits import Limits, Load
from clearhead.engine.serving.reading_queue import QueuedEncoder, ReadingQueue
from clearhead.engine.serving.scheduler import Scheduler
from clearhead.engine.serving.ticket import Failure, Ticket

__all__ = ["Failure", "Limits", "Load", "QueuedEncoder", "ReadingQueue", "Scheduler", "Ticket"]
