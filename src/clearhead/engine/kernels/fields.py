"""What stands where in the tables that a kernel reads: the names that Python and kernels share."""

OUTPUTS = 32
"""Outputs of whole-number weights that lie side by side."""

PANEL = 16
"""Outputs of floats that lie side by side where many rows are multiplied."""

CHUNK = 64
"""Logits that are looked at together: most chunks hold none that leads."""

RELU, GELU, GELU_TANH, SILU, TANH = range(5)
"""Activations."""

LAYER, RMS = range(2)
"""Norms."""

INT8, FLOAT32, PANELS = range(3)
"""Formats of weights."""

# One product, wherever it stands: eight numbers in a row.
WEIGHT, SCALE, BIAS, SHIFT, N_OUTPUTS, N_INPUTS, LARGEST, EVEN = range(8)
PRODUCT_SIZE = 8

FEW, MANY = 127, 127 * 256 + 127
"""The largest whole number in one byte, and in two."""
NEVER = FEW + 1
"""A mean size that no row of bytes has."""

# One block, as a row of whole numbers: addresses, and products of the size above.
SELF_NORM, SELF_NORM_BIAS, CROSS_NORM, CROSS_NORM_BIAS, FFN_NORM, FFN_NORM_BIAS = range(6)
KEYS, VALUES, SOURCE_KEYS, SOURCE_VALUES = range(6, 10)
QKV, OUTPUT, CROSS_QUERY, CROSS_OUTPUT, UP, DOWN = range(10, 10 + 6 * PRODUCT_SIZE, PRODUCT_SIZE)
BLOCK_SIZE = 10 + 6 * PRODUCT_SIZE

# What all blocks share, as whole numbers.
(
    FORMAT,
    WIDTH,
    N_HEADS,
    N_KV_HEADS,
    HEAD_WIDTH,
    FFN_WIDTH,
    GATED,
    ACTIVATION,
    NORM_KIND,
    NORM_BEFORE,
    HAS_CROSS,
    N_ROWS,
    N_PAST,
    CACHE_ROW,
    CACHE_HEAD,
    MASK,
    MASK_ROW,
    POSITION_BIAS,
    POSITION_BIAS_HEAD,
    COSINE,
    SINE,
    ROTATION_ROW,
    SOURCE_LENGTH,
    SOURCE_ROW,
    SOURCE_HEAD,
    SOURCE_MASK,
    SOURCE_MASK_ROW,
    LINES,
    LINES_ROW,
    SOURCE_LINES,
    SOURCE_LINES_ROW,
    ROUNDED,
    ROUNDED_STRIDE,
    ROW_SCALES,
    SPANS,
    PATTERNS,
    PATTERNS_LAYER,
    PATTERNS_ROW,
    SHAPE_SIZE,
) = range(39)
"""Strides are in bytes; an address of 0 stands for nothing."""

# What all blocks share, as floats.
EPSILON, SCORE_SCALE = range(2)

# The buffers of a step, as a row of addresses and a row of strides in bytes.
(
    PRE,
    SELF_IN,
    SELF_QKV,
    TURNED,
    TURNED_KEY,
    SCORES,
    PATTERN,
    MIXED,
    SELF_OUT,
    MID,
    CROSS_IN,
    CROSS_Q,
    CROSS_SCORES,
    CROSS_PATTERN,
    CROSS_MIXED,
    CROSS_OUT,
    CROSS_SUM,
    FFN_IN,
    EXPANDED,
    HIDDEN,
    FFN_OUT,
    POST,
    BUFFERS,
) = range(23)

# What a step of writing needs beside blocks, as whole numbers, and as floats.
(
    TOKENS,
    TOKEN_SCALES,
    PLACES,
    LAST_NORM,
    LAST_NORM_BIAS,
    OTHER_LINES,
    OTHER_SOURCE_LINES,
    OTHER_MASK,
    KEPT,
    WRITING_SIZE,
) = range(10)
TOKEN_FACTOR, HEAD_FACTOR = range(2)
MOST_STEPS = 16
"""Steps in one call, after which somebody may ask whether to go on."""

# A step of beam searches, as whole numbers; and each search, as a row of them.
LOGITS, LOGITS_ROW, N_LOGITS, N_KEPT, N_EACH, BEAMS, LENGTH, FIRST_ENDED_WINS, PLAN_SIZE = range(9)
FIRST_ROW, N_BEAMS, MOST_IDS, N_FINISHED, N_RUNNING, N_ENDED, STATE, SEARCH_SIZE = range(8)

N_LIVE, N_ROWS_LEFT, N_STEPS, N_ENDINGS, HOPEFUL, STATE_SIZE = range(6)
"""How far several steps have come; less than no live search where one has nothing left."""

RUNS, DONE, NOTHING_LEFT = range(3)
"""What becomes of a search."""

BLOCK, STRIP = 256, 96
"""Rows whose part of a gradient is added at a time, and columns of them that may be copied for it: they stay near."""
ROOM = 2**18
"""Numbers of weights that are laid out at a time while a model learns, unless two panels have more."""
