"""Attention from named parts: project, split into heads, position, score, mask, normalise, mix, merge.

Takes: what looks (queries) and what is looked at (keys and values).
Gives: for every query, a mix of the values that it looked at.
Uses:  config, probe, errors; torch.
Never: a second kind of attention: self, masked and cross differ in their inputs alone.
"""
