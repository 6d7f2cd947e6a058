# pyright: basic, reportPrivateImportUsage=false
"""What a processor does in one go, written in the language of the compiler: tiles of products, and waiting.

A tile multiplies a few outputs by a few rows. Its sums stay in registers, each weight is read once, and the sum of
one row and output is made in the same order whatever else is in the tile: a row never depends on its neighbours.

Numba has no vectors of its own, so that these functions are made of instructions; everything around them is Python.
Addresses are whole numbers here: a kernel reads tables of them.
"""

from typing import no_type_check

from llvmlite import binding, ir
from numba import types
from numba.extending import intrinsic

from clearhead.engine.kernels.fields import OUTPUTS

LANES = 8
"""Numbers in one register."""

_I8, _I16, _I32, _I64, _F32 = ir.IntType(8), ir.IntType(16), ir.IntType(32), ir.IntType(64), ir.FloatType()
_BYTES, _SHORTS = ir.VectorType(_I8, 2 * LANES), ir.VectorType(_I16, 2 * LANES)
_INTS, _FLOATS = ir.VectorType(_I32, LANES), ir.VectorType(_F32, LANES)
_WIDE = OUTPUTS // LANES
_AVX2 = bool(binding.get_host_cpu_features().get("avx2"))


@no_type_check
def _number(value):
    return ir.Constant(_I64, value)


@no_type_check
def _at(b, address, offset, kind, align):
    """What lies at an address."""
    found = b.load(b.inttoptr(b.add(address, offset), kind.as_pointer()))
    found.align = align
    return found


@no_type_check
def _put(b, value, address, offset, align):
    b.store(value, b.inttoptr(b.add(address, offset), value.type.as_pointer())).align = align


@no_type_check
def _all(b, value, kind):
    """A register with one value in every lane."""
    lane = b.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(_I32, 0))
    return b.shuffle_vector(lane, lane, ir.Constant(ir.VectorType(_I32, kind.count), [0] * kind.count))


@no_type_check
def _fetch(b, address):
    """Asks memory for what will be read soon."""
    kind = ir.FunctionType(ir.VoidType(), [_I8.as_pointer(), _I32, _I32, _I32])
    fetch = b.module.declare_intrinsic("llvm.prefetch.p0", (), kind)
    how = [ir.Constant(_I32, number) for number in (0, 3, 1)]  # to read, to be kept near, and no instructions
    b.call(fetch, [b.inttoptr(address, _I8.as_pointer()), *how])


@no_type_check
def _pairs(b, left, right):
    """The sums of neighbouring products: 16 whole numbers times 16, as 8."""
    if _AVX2:
        kind = ir.FunctionType(_INTS, [_SHORTS, _SHORTS])
        return b.call(b.module.declare_intrinsic("llvm.x86.avx2.pmadd.wd", (), kind), [left, right])
    wide = ir.VectorType(_I32, 2 * LANES)
    product = b.mul(b.sext(left, wide), b.sext(right, wide))
    halves = [ir.Constant(_INTS, [2 * i + odd for i in range(LANES)]) for odd in (0, 1)]
    return b.add(*(b.shuffle_vector(product, product, half) for half in halves))


@no_type_check
def _fma(b):
    """The function that multiplies and adds."""
    return b.module.declare_intrinsic(f"llvm.fma.v{LANES}f32", (), ir.FunctionType(_FLOATS, [_FLOATS] * 3))


@no_type_check
def _total(b, register):
    """The sum of a register, halves first: in one order, whatever the tile."""
    n = LANES
    while n > 1:
        n //= 2
        low, high = (ir.Constant(ir.VectorType(_I32, n), [part * n + i for i in range(n)]) for part in (0, 1))
        register = b.fadd(b.shuffle_vector(register, register, low), b.shuffle_vector(register, register, high))
    return b.extract_element(register, ir.Constant(_I32, 0))


@no_type_check
def _loop(b, n, sums, body):
    """Runs `body(place, sums) -> sums` for every place below n, which is at least 1; gives the last sums."""
    before, loop, after = b.block, b.append_basic_block("tile"), b.append_basic_block("done")
    b.branch(loop)
    b.position_at_end(loop)
    place = b.phi(_I64)
    place.add_incoming(_number(0), before)
    held = [b.phi(one.type) for one in sums]
    found = body(place, held)
    following = b.add(place, _number(1))
    place.add_incoming(following, b.block)
    for phi, first, last in zip(held, sums, found, strict=True):
        phi.add_incoming(first, before)
        phi.add_incoming(last, b.block)
    b.cbranch(b.icmp_signed("<", following, n), loop, after)
    b.position_at_end(after)
    return found


@no_type_check
def make_int8_tile(n_rows):
    """A tile of whole numbers: 32 outputs by `n_rows` rows.

    Weights lie as [pair of inputs, output, input of the pair], one byte each, so that a tile reads one line after
    another; rows are 16-bit numbers. The sums are exact. out = sum * scale of the output * scale of the row + bias
    Each turn reads 128 bytes of weights and asks memory for `step` bytes that come later, from `ahead` on.
    """

    @intrinsic
    @no_type_check
    def tile(context, weight, n_pairs, row, row_stride, row_scale, scale, bias, out, out_stride, ahead, step):
        def code(target, b, signature, args):
            weight, n_pairs, row, row_stride, row_scale, scale, bias, out, out_stride, ahead, step = args
            halves = [ahead, b.add(ahead, b.ashr(step, _number(1)))]
            rows = [b.add(row, b.mul(row_stride, _number(i))) for i in range(n_rows)]

            def body(place, sums):
                for half in (0, 1):  # two pairs a turn, so that turning costs less
                    read = b.add(b.shl(place, _number(7)), _number(64 * half))
                    w = [_at(b, weight, b.add(read, _number(16 * i)), _BYTES, 1) for i in range(_WIDE)]
                    w = [b.sext(one, _SHORTS) for one in w]
                    _fetch(b, b.add(halves[half], b.mul(place, step)))
                    found = []
                    for m in range(n_rows):
                        pair = _at(b, rows[m], b.add(b.shl(place, _number(3)), _number(4 * half)), _I32, 2)
                        x = b.bitcast(_all(b, pair, _INTS), _SHORTS)
                        found += [b.add(sums[m * _WIDE + i], _pairs(b, w[i], x)) for i in range(_WIDE)]
                    sums = found
                return sums

            turns = b.ashr(n_pairs, _number(1))
            sums = _loop(b, turns, [ir.Constant(_INTS, [0] * LANES)] * (_WIDE * n_rows), body)
            for i in range(_WIDE):
                lane = _number(4 * LANES * i)
                scales, biases = _at(b, scale, lane, _FLOATS, 4), _at(b, bias, lane, _FLOATS, 4)
                for m in range(n_rows):
                    of_row = _all(b, _at(b, row_scale, _number(4 * m), _F32, 4), _FLOATS)
                    product = b.fmul(b.fmul(b.sitofp(sums[m * _WIDE + i], _FLOATS), scales), of_row)
                    _put(b, b.fadd(product, biases), out, b.add(lane, b.mul(out_stride, _number(m))), 4)
            return target.get_dummy_value()

        return types.void(*[types.intp] * 11), code

    return tile


@no_type_check
def make_float_tile(n_outputs, n_rows):
    """A tile of floats: `n_outputs` rows of a matrix by `n_rows` rows, over whole registers of inputs."""

    @intrinsic
    @no_type_check
    def tile(context, weight, weight_stride, n_registers, row, row_stride, out, out_stride):
        def code(target, b, signature, args):
            weight, weight_stride, n_registers, row, row_stride, out, out_stride = args
            weights = [b.add(weight, b.mul(weight_stride, _number(i))) for i in range(n_outputs)]
            rows = [b.add(row, b.mul(row_stride, _number(i))) for i in range(n_rows)]
            fma = _fma(b)

            def body(place, sums):
                read = b.shl(place, _number(5))
                w = [_at(b, one, read, _FLOATS, 4) for one in weights]
                found = []
                for m in range(n_rows):
                    x = _at(b, rows[m], read, _FLOATS, 4)
                    found += [b.call(fma, [w[i], x, sums[m * n_outputs + i]]) for i in range(n_outputs)]
                return found

            sums = _loop(b, n_registers, [ir.Constant(_FLOATS, [0.0] * LANES)] * (n_outputs * n_rows), body)
            for m in range(n_rows):
                for i in range(n_outputs):
                    total = _total(b, sums[m * n_outputs + i])
                    _put(b, total, out, b.add(_number(4 * i), b.mul(out_stride, _number(m))), 4)
            return target.get_dummy_value()

        return types.void(*[types.intp] * 7), code

    return tile


@no_type_check
def make_dots(n_keys):
    """The products of one vector with up to four others, over whole registers."""

    @intrinsic
    @no_type_check
    def dots(context, vector, n_registers, out, first, second, third, fourth):
        def code(target, b, signature, args):
            vector, n_registers, out, *keys = args
            fma = _fma(b)

            def body(place, sums):
                read = b.shl(place, _number(5))
                x = _at(b, vector, read, _FLOATS, 4)
                return [b.call(fma, [_at(b, keys[i], read, _FLOATS, 4), x, sums[i]]) for i in range(n_keys)]

            sums = _loop(b, n_registers, [ir.Constant(_FLOATS, [0.0] * LANES)] * n_keys, body)
            for i in range(n_keys):
                _put(b, _total(b, sums[i]), out, _number(4 * i), 4)
            return target.get_dummy_value()

        return types.void(*[types.intp] * 7), code

    return dots


@no_type_check
def make_mix(n_values):
    """Adds up to four vectors to one, each times its share, one after the other, over whole registers."""

    @intrinsic
    @no_type_check
    def mix(context, shares, n_registers, out, first, second, third, fourth):
        def code(target, b, signature, args):
            shares, n_registers, out, *values = args
            fma = _fma(b)
            each = [_all(b, _at(b, shares, _number(4 * i), _F32, 4), _FLOATS) for i in range(n_values)]

            def body(place, _):
                read = b.shl(place, _number(5))
                total = _at(b, out, read, _FLOATS, 4)
                for i in range(n_values):
                    total = b.call(fma, [_at(b, values[i], read, _FLOATS, 4), each[i], total])
                _put(b, total, out, read, 4)
                return []

            _loop(b, n_registers, [], body)
            return target.get_dummy_value()

        return types.void(*[types.intp] * 7), code

    return mix


@intrinsic
@no_type_check
def pointer(context, address, like):
    """An address as a pointer to numbers of the kind of `like`."""

    def code(target, b, signature, args):
        return b.inttoptr(args[0], target.get_value_type(signature.return_type))

    return types.CPointer(like.instance_type)(types.intp, like), code


@intrinsic
@no_type_check
def power_of_two(context, exponent):
    """2 to a whole number between -126 and 127, by its bits."""

    def code(target, b, signature, args):
        return b.bitcast(b.shl(b.add(args[0], ir.Constant(_I32, 127)), ir.Constant(_I32, 23)), _F32)

    return types.float32(types.int32), code


@intrinsic
@no_type_check
def of_bits(context, bits):
    """The float that these 32 bits are."""

    def code(target, b, signature, args):
        return b.bitcast(args[0], _F32)

    return types.float32(types.int32), code


@intrinsic
@no_type_check
def arrive(context, address):
    """Counts one more thread at a barrier; gives how many were there before it."""

    def code(target, b, signature, args):
        where = b.inttoptr(args[0], _I64.as_pointer())
        return b.atomic_rmw("add", where, ir.Constant(_I64, 1), "seq_cst")

    return types.intp(types.intp), code


@intrinsic
@no_type_check
def look(context, address):
    """What lies at an address that another thread may write."""

    def code(target, b, signature, args):
        return b.load_atomic(b.inttoptr(args[0], _I64.as_pointer()), "acquire", 8)

    return types.intp(types.intp), code
