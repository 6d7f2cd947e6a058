# pyright: basic
"""Instructions of a processor, and functions that write them: what kernels are made of where Python has no word."""

import os
from typing import no_type_check

from llvmlite import binding, ir

_HAS = binding.get_host_cpu_features()
_AVX2, _AVX512 = bool(_HAS.get("avx2")), bool(_HAS.get("avx512f") and _HAS.get("avx512bw"))
LANES = 16 if _AVX512 and os.environ.get("CLEARHEAD_LANES") != "8" else 8
"""Numbers in one register; the variable lets tests have narrow ones where there are wide ones."""

I8, I16, I32, I64, F32 = ir.IntType(8), ir.IntType(16), ir.IntType(32), ir.IntType(64), ir.FloatType()
BYTES, SHORTS = ir.VectorType(I8, 2 * LANES), ir.VectorType(I16, 2 * LANES)
INTS, FLOATS = ir.VectorType(I32, LANES), ir.VectorType(F32, LANES)


@no_type_check
def number(value):
    """A whole number that is known now."""
    return ir.Constant(I64, value)


@no_type_check
def take(b, address, offset, kind, align):
    """What lies at an address."""
    found = b.load(b.inttoptr(b.add(address, offset), kind.as_pointer()))
    found.align = align
    return found


@no_type_check
def put(b, value, address, offset, align):
    """Leaves a value at an address."""
    b.store(value, b.inttoptr(b.add(address, offset), value.type.as_pointer())).align = align


@no_type_check
def register(b, place):
    """Where a register's floats begin, in bytes from the first."""
    return b.mul(place, number(4 * LANES))


@no_type_check
def fill(b, value, kind):
    """A register with one value in every lane."""
    lane = b.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(I32, 0))
    return b.shuffle_vector(lane, lane, ir.Constant(ir.VectorType(I32, kind.count), [0] * kind.count))


@no_type_check
def alike(value):
    """A register with one number in every lane that is known now."""
    return ir.Constant(FLOATS, [value] * LANES)


@no_type_check
def larger(b, left, right):
    """The larger of two numbers, lane by lane; the right one where either is none."""
    return b.select(b.fcmp_ordered(">", left, right), left, right)


@no_type_check
def ask_for(b, address):
    """Asks memory for what will be read soon."""
    kind = ir.FunctionType(ir.VoidType(), [I8.as_pointer(), I32, I32, I32])
    fetch = b.module.declare_intrinsic("llvm.prefetch.p0", (), kind)
    how = [ir.Constant(I32, choice) for choice in (0, 3, 1)]  # to read, to be kept near, and no instructions
    b.call(fetch, [b.inttoptr(address, I8.as_pointer()), *how])


@no_type_check
def sum_pairs(b, left, right):
    """The sums of neighbouring products: half as many as there are numbers."""
    if _AVX2:
        kind = ir.FunctionType(INTS, [SHORTS, SHORTS])
        name = "llvm.x86.avx2.pmadd.wd" if LANES == 8 else "llvm.x86.avx512.pmaddw.d.512"
        return b.call(b.module.declare_intrinsic(name, (), kind), [left, right])
    wide = ir.VectorType(I32, 2 * LANES)
    product = b.mul(b.sext(left, wide), b.sext(right, wide))
    halves = [ir.Constant(INTS, [2 * i + odd for i in range(LANES)]) for odd in (0, 1)]
    return b.add(*(b.shuffle_vector(product, product, half) for half in halves))


@no_type_check
def sum_quads(b, total, left, right):
    """A sum and the products of four neighbours, bytes without a sign by bytes with one; where there are quads."""
    kind = ir.FunctionType(INTS, [INTS, INTS, INTS])
    name = f"llvm.x86.avx512.vpdpbusd.{32 * LANES}"
    return b.call(b.module.declare_intrinsic(name, (), kind), [total, left, right])


@no_type_check
def multiply_add(b):
    """The function that multiplies and adds."""
    return b.module.declare_intrinsic(f"llvm.fma.v{LANES}f32", (), ir.FunctionType(FLOATS, [FLOATS] * 3))


@no_type_check
def total_of(b, register):
    """The sum of a register, halves first: in one order, whatever the tile."""
    return _folded(b, register, lambda b, low, high: b.fadd(low, high))


@no_type_check
def totals_of(b, registers):
    """The sums of four registers, side by side; each is made in the order of `total_of`."""
    first, second, third, fourth = (_folded(b, one, lambda b, low, high: b.fadd(low, high), 4) for one in registers)
    whole = ir.VectorType(I32, 4)
    even, odd = ir.Constant(whole, [0, 4, 1, 5]), ir.Constant(whole, [2, 6, 3, 7])
    pairs = [
        b.fadd(b.shuffle_vector(left, right, even), b.shuffle_vector(left, right, odd))
        for left, right in ((first, second), (third, fourth))
    ]
    low, high = ir.Constant(whole, [0, 1, 4, 5]), ir.Constant(whole, [2, 3, 6, 7])
    return b.fadd(b.shuffle_vector(*pairs, low), b.shuffle_vector(*pairs, high))


@no_type_check
def _folded(b, register, join, n_left=1):
    """A register folded in halves until so many lanes are left; one of them is a number."""
    n = LANES
    while n > n_left:
        n //= 2
        low, high = (ir.Constant(ir.VectorType(I32, n), [part * n + i for i in range(n)]) for part in (0, 1))
        register = join(b, b.shuffle_vector(register, register, low), b.shuffle_vector(register, register, high))
    return register if n_left > 1 else b.extract_element(register, ir.Constant(I32, 0))


@no_type_check
def first_lanes(b, n):
    """True in the first n lanes."""
    lanes = ir.Constant(INTS, list(range(LANES)))
    return b.icmp_signed("<", lanes, fill(b, b.trunc(n, I32), INTS))


@no_type_check
def take_some(b, address, offset, mask, other):
    """A register of floats of which only some lanes are read; the rest is given."""
    kind = ir.FunctionType(FLOATS, [FLOATS.as_pointer(), I32, mask.type, FLOATS])
    load = b.module.declare_intrinsic(f"llvm.masked.load.v{LANES}f32.p0", (), kind)
    return b.call(load, [b.inttoptr(b.add(address, offset), FLOATS.as_pointer()), ir.Constant(I32, 4), mask, other])


@no_type_check
def put_some(b, value, address, offset, mask):
    """Leaves only some lanes of a register at an address."""
    kind = ir.FunctionType(ir.VoidType(), [FLOATS, FLOATS.as_pointer(), I32, mask.type])
    store = b.module.declare_intrinsic(f"llvm.masked.store.v{LANES}f32.p0", (), kind)
    b.call(store, [value, b.inttoptr(b.add(address, offset), FLOATS.as_pointer()), ir.Constant(I32, 4), mask])


@no_type_check
def largest_of(b, register):
    """The largest number of a register."""
    return _folded(b, register, larger)


@no_type_check
def turn_by_turn(b, n, sums, body):
    """Runs `body(place, sums) -> sums` for every place below n, which is at least 1; gives the last sums."""
    before, loop, after = b.block, b.append_basic_block("tile"), b.append_basic_block("done")
    b.branch(loop)
    b.position_at_end(loop)
    place = b.phi(I64)
    place.add_incoming(number(0), before)
    held = [b.phi(one.type) for one in sums]
    found = body(place, held)
    following = b.add(place, number(1))
    place.add_incoming(following, b.block)
    for phi, first, last in zip(held, sums, found, strict=True):
        phi.add_incoming(first, before)
        phi.add_incoming(last, b.block)
    b.cbranch(b.icmp_signed("<", following, n), loop, after)
    b.position_at_end(after)
    return found
