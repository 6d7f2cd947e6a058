"""What the page asks the server.

Takes: requests.
Gives: JSON, or numbers as they lie in memory.
Uses:  web.shelf, web.asked; explain, trace, lessons.
Never: an answer that the engine did not compute.
"""
