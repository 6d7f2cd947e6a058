"""The arithmetic of one number: how each kind of site opens into what it was computed from.

Takes: a trace, and the network that ran.
Gives: Nodes, each of which recomputes from its children.
Uses:  trace, models, nn, config; explain.node.
Never: a number that neither the run recorded nor the children make.
"""

from clearhead.explain.arithmetic.book import Book

__all__ = ["Book"]
