"""Kernels: compiled loops that stand in for a stack's steps and for single products.

Takes: addresses of parameters, caches and buffers that belong to others.
Gives: the same numbers as the parts, several times as fast for few rows.
Uses:  nn, models, probe; numba, which is imported when a kernel is first asked for, and may be missing.
Never: a number that the parts would not compute too; memory of its own in a kernel.

`machine` is what a processor does in one go, `arithmetic` what is made of it, `step` the pass through all blocks.
`fleet` runs a kernel on several threads, `ready` loads and compiles, `layout` lays weights out for `machine`.
"""
