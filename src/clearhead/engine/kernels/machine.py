# pyright: basic, reportPrivateImportUsage=false
"""What a processor does in one go, written in the language of the compiler: tiles of products, and waiting.

A tile multiplies a few outputs by a few rows. Its sums stay in registers, each weight is read once, and the sum of
one row and output is made in the same order whatever else is in the tile: a row never depends on its neighbours.

Numba has no vectors of its own, so that these functions are made of instructions; everything around them is Python.
Addresses are whole numbers here: a kernel reads tables of them.
"""

from typing import no_type_check

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from clearhead.engine.kernels.fields import PANEL
from clearhead.engine.kernels.instructions import (
    F32,
    FLOATS,
    I64,
    LANES,
    alike,
    fill,
    multiply_add,
    number,
    put,
    register,
    take,
    total_of,
    totals_of,
    turn_by_turn,
)


@no_type_check
def make_float_tile(n_outputs, n_rows):
    """A tile of floats: `n_outputs` rows of a matrix by `n_rows` rows, over whole registers of inputs."""

    @intrinsic
    @no_type_check
    def tile(context, weight, weight_stride, n_registers, row, row_stride, out, out_stride):
        def code(target, b, signature, args):
            weight, weight_stride, n_registers, row, row_stride, out, out_stride = args
            weights = [b.add(weight, b.mul(weight_stride, number(i))) for i in range(n_outputs)]
            rows = [b.add(row, b.mul(row_stride, number(i))) for i in range(n_rows)]
            fma = multiply_add(b)

            def body(place, sums):
                read = register(b, place)
                w = [take(b, one, read, FLOATS, 4) for one in weights]
                found = []
                for m in range(n_rows):
                    x = take(b, rows[m], read, FLOATS, 4)
                    found += [b.call(fma, [w[i], x, sums[m * n_outputs + i]]) for i in range(n_outputs)]
                return found

            sums = turn_by_turn(b, n_registers, [ir.Constant(FLOATS, [0.0] * LANES)] * (n_outputs * n_rows), body)
            for m in range(n_rows):
                for i in range(n_outputs):
                    total = total_of(b, sums[m * n_outputs + i])
                    put(b, total, out, b.add(number(4 * i), b.mul(out_stride, number(m))), 4)
            return target.get_dummy_value()

        return types.void(*[types.intp] * 7), code

    return tile


@no_type_check
def make_panel_tile(n_rows, n_panels=1, *, standing=False, onto=False):
    """A tile of floats for many rows: one or more panels of outputs by `n_rows` rows.

    Weights lie as [panel of 16 outputs, input, output], so that each turn reads one line of every panel and one number
    of every row; a number of a row meets all outputs at once, and each sum is made in the order of the inputs. Rows
    that are `standing` lie as columns: side by side, from one input to the next in `row_stride` bytes.
    """
    wide = PANEL // LANES
    lanes = [(panel, i) for panel in range(n_panels) for i in range(wide)]

    @intrinsic
    @no_type_check
    def tile(context, weight, n_inputs, row, row_stride, bias, out, out_stride):
        def code(target, b, signature, args):
            weight, n_inputs, row, row_stride, bias, out, out_stride = args
            rows = [b.add(row, number(4 * i) if standing else b.mul(row_stride, number(i))) for i in range(n_rows)]
            panels = [b.add(weight, b.mul(n_inputs, number(4 * PANEL * i))) for i in range(n_panels)]
            fma = multiply_add(b)

            def body(place, sums):
                read = b.mul(place, number(4 * PANEL))
                w = [take(b, panels[panel], b.add(read, number(4 * LANES * i)), FLOATS, 4) for panel, i in lanes]
                found, input_at = [], b.mul(place, row_stride if standing else number(4))
                for m in range(n_rows):
                    x = fill(b, take(b, rows[m], input_at, F32, 4), FLOATS)
                    found += [b.call(fma, [w[i], x, sums[len(lanes) * m + i]]) for i in range(len(lanes))]
                return found

            def where(m, i):
                return b.add(number(4 * LANES * i), b.mul(out_stride, number(m)))

            places = [(m, i) for m in range(n_rows) for i in range(len(lanes))]
            sums = turn_by_turn(b, n_inputs, [alike(0.0)] * len(places), body)
            biases = [] if onto else [take(b, bias, number(4 * LANES * i), FLOATS, 4) for i in range(len(lanes))]
            for total, (m, i) in zip(sums, places, strict=True):
                other = take(b, out, where(m, i), FLOATS, 4) if onto else biases[i]
                put(b, b.fadd(total, other), out, where(m, i), 4)
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
            fma = multiply_add(b)

            def body(place, sums):
                read = register(b, place)
                x = take(b, vector, read, FLOATS, 4)
                return [b.call(fma, [take(b, keys[i], read, FLOATS, 4), x, sums[i]]) for i in range(n_keys)]

            sums = turn_by_turn(b, n_registers, [ir.Constant(FLOATS, [0.0] * LANES)] * n_keys, body)
            if n_keys == 4:
                put(b, totals_of(b, sums), out, number(0), 4)
            else:
                for i in range(n_keys):
                    put(b, total_of(b, sums[i]), out, number(4 * i), 4)
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
            fma = multiply_add(b)
            each = [fill(b, take(b, shares, number(4 * i), F32, 4), FLOATS) for i in range(n_values)]

            def body(place, _):
                read = register(b, place)
                total = take(b, out, read, FLOATS, 4)
                for i in range(n_values):
                    total = b.call(fma, [take(b, values[i], read, FLOATS, 4), each[i], total])
                put(b, total, out, read, 4)
                return []

            turn_by_turn(b, n_registers, [], body)
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
def of_bits(context, bits):
    """The float that these 32 bits are."""

    def code(target, b, signature, args):
        return b.bitcast(args[0], F32)

    return types.float32(types.int32), code


@intrinsic
@no_type_check
def arrive(context, address):
    """Counts one more thread at a barrier; gives how many were there before it."""

    def code(target, b, signature, args):
        where = b.inttoptr(args[0], I64.as_pointer())
        return b.atomic_rmw("add", where, ir.Constant(I64, 1), "seq_cst")

    return types.intp(types.intp), code


@intrinsic
@no_type_check
def look(context, address):
    """What lies at an address that another thread may write."""

    def code(target, b, signature, args):
        return b.load_atomic(b.inttoptr(args[0], I64.as_pointer()), "acquire", 8)

    return types.intp(types.intp), code
