"""Ops on quantized tensors: whole numbers that represent a range of real ones."""

import numpy as np
import tensorflow as tf

from golden import case, ints, uniform

RANGES = [(0, 6), (-1.5, 2.0), (-128, 127), (-3, 0), (-0.01, 0.02)]


def quantized(type, values):
    """Whole numbers as elements of a quantized type, which NumPy has as a record of one field."""
    plain = np.int32 if type == tf.qint32 else type.as_numpy_dtype[0]
    return np.asarray(values).astype(plain).astype(type.as_numpy_dtype)


def some(type, *dims):
    low, high = {tf.quint8: (0, 256), tf.qint8: (-128, 128), tf.qint32: (-(2**31), 2**31)}[type]
    return quantized(type, uniform(low, high, *dims, dtype=np.int64))


def ends(*ranges):
    return [np.float32(end) for one in ranges for end in one]


def plain(values):
    """The whole numbers themselves."""
    return values.view(np.int32 if values.dtype.itemsize == 4 else values.dtype[0])


# TensorFlow computes these for u8 only; exact arithmetic gives them for i8 as well.


def step(least, most):
    return (np.float32(most) - np.float32(least)) / np.float32(255)


def zero(values, least, most):
    lowest = -128 if values.dtype == tf.qint8.as_numpy_dtype else 0
    return lowest - int(np.round(float(np.float32(least)) / ((float(np.float32(most) - np.float32(least))) / 255)))


def from_zero_on(values, range):
    return plain(values).astype(np.int64) - zero(values, *range)


def product_range(a, b):
    size = step(*a) * step(*b)
    return size * np.float32(-(2**31)), size * np.float32(2**31)


def whole(values):
    """Wrapped around to 32 bits."""
    return quantized(tf.qint32, values.astype(np.int64).astype(np.uint32).view(np.int32))


# Products of matrices.
for a_range in RANGES:
    for b_range in RANGES:
        case("QuantizedMatMul", some(tf.quint8, 3, 5), some(tf.quint8, 5, 4), *ends(a_range, b_range),
             Toutput=tf.qint32)
for m, n, k in ((1, 1, 1), (1, 17, 33), (40, 1, 70), (20, 30, 65), (0, 3, 2), (2, 0, 3)):
    for transpose_a in (False, True):
        for transpose_b in (False, True):
            a, b = ((k, m) if transpose_a else (m, k)), ((n, k) if transpose_b else (k, n))
            case("QuantizedMatMul", some(tf.quint8, *a), some(tf.quint8, *b), *ends((-1, 2), (-3, 1)),
                 Toutput=tf.qint32, transpose_a=transpose_a, transpose_b=transpose_b)
# Neighbouring products that 16 bits cannot hold.
full = quantized(tf.quint8, np.full((4, 64), 255))
for b in (0, 255):
    case("QuantizedMatMul", full, quantized(tf.quint8, np.full((64, 3), b)), *ends((0, 1), (-1, 1)), Toutput=tf.qint32)
# Ranges without 0.
for a_range, b_range in (((1, 2), (-1, 1)), ((-1, 1), (-9, -8.5)), ((100, 101), (7, 9))):
    case("QuantizedMatMul", some(tf.quint8, 3, 5), some(tf.quint8, 5, 4), *ends(a_range, b_range), Toutput=tf.qint32)
for T1, T2 in ((tf.qint8, tf.quint8), (tf.quint8, tf.qint8), (tf.qint8, tf.qint8)):
    for a_range, b_range in (((-1, 1), (0, 6)), ((0.3, 0.6), (-128, 127)), ((-2, 5), (-5, -1))):
        a, b = some(T1, 6, 9), some(T2, 9, 5)
        product = from_zero_on(a, a_range) @ from_zero_on(b, b_range)
        case("QuantizedMatMul", a, b, *ends(a_range, b_range), Toutput=tf.qint32,
             expected=[whole(product), *product_range(a_range, b_range)])
a, b = some(tf.quint8, 2, 3), some(tf.quint8, 3, 2)
case("QuantizedMatMul", a, b, *ends((1, 1), (0, 1)), Toutput=tf.qint32, refused=True)
case("QuantizedMatMul", a, b, *ends((0, 1), (1, 0)), Toutput=tf.qint32, refused=True)

# Convolutions.
for a_range, b_range in zip(RANGES, RANGES[1:] + RANGES[:1]):
    for padding in ("SAME", "VALID"):
        for stride in (1, 2):
            case("QuantizedConv2D", some(tf.quint8, 2, 6, 5, 3), some(tf.quint8, 3, 2, 3, 4),
                 *ends(a_range, b_range), out_type=tf.qint32, strides=[1, stride, stride, 1], padding=padding)
for dims, filter in (((1, 1, 1, 1), (1, 1, 1, 1)), ((2, 4, 4, 7), (1, 1, 7, 5)), ((1, 3, 4, 2), (5, 5, 2, 3)),
                     ((1, 12, 11, 16), (3, 3, 16, 8))):
    case("QuantizedConv2D", some(tf.quint8, *dims), some(tf.quint8, *filter), *ends((-1, 2), (-3, 1)),
         out_type=tf.qint32, strides=[1, 1, 1, 1], padding="SAME")
for a_range, b_range in (((1, 2), (-1, 1)), ((-1, 1), (-9, -8.5)), ((-2, -1), (0, 1)), ((0, 0), (0, 1))):
    case("QuantizedConv2D", some(tf.quint8, 1, 4, 4, 2), some(tf.quint8, 2, 2, 2, 3), *ends(a_range, b_range),
         out_type=tf.qint32, strides=[1, 1, 1, 1], padding="VALID")


def convolved(x, w, strides, dilations):
    """Without padding."""
    rows, columns = ((n - (k - 1) * d - 1) // s + 1 for n, k, s, d in
                     zip(x.shape[1:3], w.shape[:2], strides, dilations))
    made = np.zeros((x.shape[0], rows, columns, w.shape[3]), np.int64)
    for r in range(w.shape[0]):
        for c in range(w.shape[1]):
            part = x[:, r * dilations[0]:, c * dilations[1]:][:, ::strides[0], ::strides[1]][:, :rows, :columns]
            made += part @ w[r, c]
    return made


for Tinput, Tfilter in ((tf.quint8, tf.qint8), (tf.qint8, tf.quint8), (tf.qint8, tf.qint8), (tf.quint8, tf.quint8)):
    for strides, dilations in (((1, 1), (1, 1)), ((1, 2), (1, 1)), ((1, 1), (2, 3))):
        for ranges in (((-1, 2), (-1, 1)), ((3, 4), (-1, 1))):
            x, w = some(Tinput, 2, 8, 9, 3), some(Tfilter, 3, 2, 3, 4)
            sums = convolved(from_zero_on(x, ranges[0]), from_zero_on(w, ranges[1]), strides, dilations)
            case("QuantizedConv2D", x, w, *ends(*ranges), out_type=tf.qint32, strides=[1, *strides, 1],
                 dilations=[1, *dilations, 1], padding="VALID",
                 expected=[whole(sums), *product_range(*ranges)])
x, w = some(tf.quint8, 1, 4, 4, 3), some(tf.quint8, 2, 2, 2, 3)
case("QuantizedConv2D", x, w, *ends((0, 1), (0, 1)), out_type=tf.qint32, strides=[1, 1, 1, 1], padding="VALID",
     refused=True)

# Biases, sums and products of elements.
for type in (tf.quint8, tf.qint8):
    for a_range, b_range in ((RANGES[0], RANGES[1]), (RANGES[1], RANGES[4]), (RANGES[2], RANGES[2]), ((1, 2), (-4, -3))):
        case("QuantizedBiasAdd", some(type, 4, 6), some(type, 6), *ends(a_range, b_range), out_type=tf.qint32)
    case("QuantizedBiasAdd", some(type, 2, 3, 2, 5), some(type, 5), *ends((0, 0), (-1, 2)), out_type=tf.qint32)
    case("QuantizedBiasAdd", some(type, 0, 3), some(type, 3), *ends((0, 1), (-1, 2)), out_type=tf.qint32)
case("QuantizedBiasAdd", some(tf.quint8, 4, 6), some(tf.quint8, 1, 6), *ends((0, 1), (0, 1)), out_type=tf.qint32,
     refused=True)
shapes = [((7,), (7,)), ((3, 5), (5,)), ((5,), (3, 5)), ((), (4,)), ((2, 3), (1,)), ((1,), (1,)), ((2, 1, 4), (4,)), ((1, 1), (3,)), ((4,), ())]
for op in ("QuantizedAdd", "QuantizedMul"):
    for a_range, b_range in ((RANGES[0], RANGES[1]), (RANGES[1], RANGES[4]), (RANGES[2], RANGES[2]), ((1, 2), (-4, -3))):
        case(op, some(tf.quint8, 4, 6), some(tf.quint8, 6), *ends(a_range, b_range), Toutput=tf.qint32)
    for a, b in shapes:
        case(op, some(tf.quint8, *a), some(tf.quint8, *b), *ends((-1, 2), (0, 3)), Toutput=tf.qint32)
    case(op, some(tf.quint8, 2), some(tf.quint8, 2), *ends((1, 1), (0, 3)), Toutput=tf.qint32, refused=True)
    case(op, some(tf.quint8, 2), some(tf.quint8, 3), *ends((0, 1), (0, 3)), Toutput=tf.qint32, refused=True)
for T1, T2 in ((tf.qint8, tf.quint8), (tf.qint8, tf.qint8)):
    x, y, ranges = some(T1, 3, 4), some(T2, 4), ((-1, 2), (-4, 1))
    case("QuantizedMul", x, y, *ends(*ranges), Toutput=tf.qint32,
         expected=[whole(from_zero_on(x, ranges[0]) * from_zero_on(y, ranges[1])), *product_range(*ranges)])

# Activations.


def nearest(type, real, least, most):
    """The whole number that represents a real one."""
    bits = 32 if type == tf.qint32 else 8
    lowest = 0 if type == tf.quint8 else -(2 ** (bits - 1))
    scale = (2**bits - 1) / (np.float64(most) - np.float64(least))
    away = lambda x: np.sign(x) * np.floor(np.abs(x) + 0.5)
    place = away(np.float32(real) * scale) - away(least * scale) + lowest
    return int(np.clip(place, lowest, lowest + 2**bits - 1))


for type in (tf.quint8, tf.qint32):
    for least, most in (*RANGES, (0, 20), (-100, 100), (1, 2), (-2, -1), (8, 9), (3, 3)):
        for op in ("QuantizedRelu", "QuantizedRelu6"):
            case(op, some(type, 4, 5), *ends((least, most)), out_type=type)
    case("QuantizedRelu", some(type, 0, 2), *ends((-1, 1)), out_type=type)
    case("QuantizedRelu", some(type), *ends((-1, 1)), out_type=type)
for type in (tf.quint8, tf.qint8, tf.qint32):
    for limit in (None, 6, 1.7, -1):
        for least, most in ((-8, 8), (0, 5)):
            x = some(type, 30)
            low, high = nearest(type, 0, least, most), nearest(type, most if limit is None else limit, least, most)
            op = {None: "QuantizedRelu", 6: "QuantizedRelu6"}.get(limit, "QuantizedReluX")
            limits = [np.float32(limit)] if op == "QuantizedReluX" else []
            case(op, x, *limits, *ends((least, most)), out_type=type,
                 expected=[quantized(type, np.minimum(np.maximum(plain(x), low), high)), *ends((least, most))])

# Poolings.
for window, strides, padding in (((2, 2), (2, 2), "VALID"), ((3, 2), (1, 2), "SAME"), ((2, 3), (3, 1), "SAME"),
                                 ((1, 1), (2, 2), "VALID"), ((5, 4), (1, 1), "VALID")):
    at = {"ksize": [1, *window, 1], "strides": [1, *strides, 1], "padding": padding}
    for op in ("QuantizedMaxPool", "QuantizedAvgPool"):
        case(op, some(tf.quint8, 2, 5, 4, 3), *ends((-1, 2)), **at)
at = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
x = some(tf.qint8, 2, 4, 6, 3)
tiles = plain(x).astype(np.int64).reshape(2, 2, 2, 3, 2, 3)
case("QuantizedMaxPool", x, *ends((-1, 2)), expected=[quantized(tf.qint8, tiles.max((2, 4))), *ends((-1, 2))], **at)
case("QuantizedAvgPool", x, *ends((-1, 2)),
     expected=[quantized(tf.qint8, np.trunc(tiles.sum((2, 4)) / 4)), *ends((-1, 2))], **at)
case("QuantizedMaxPool", some(tf.quint8, 1, 3, 3, 2), *ends((-1, 2)), refused=True, ksize=[1, 2, 2, 2],
     strides=[1, 1, 1, 1], padding="VALID")

# From 32 bits to 8.
few = ints(-(2**31), -1, 0, 1, 1000, 2**30, 2**31 - 1)
for least, most in ((-2, 2), (-1e6, 1e6), (0, 5), (-300, 100), (1, 2)):
    for values in (few, uniform(-(10**6), 10**6, 3, 5, dtype=np.int32), uniform(-(2**31), 2**31, 20, dtype=np.int64)):
        x = quantized(tf.qint32, values)
        for wanted in ((-1, 1), (0, 3.5), (-7, 0)):
            scale = 255 * 2**16 * (most - least) / (wanted[1] - wanted[0])
            if np.abs(plain(x).astype(float)).max() * scale < 2**63:  # beyond, TensorFlow's arithmetic overflows
                case("Requantize", x, *ends((least, most), wanted), out_type=tf.quint8)
        case("RequantizationRange", x, *ends((least, most)))
        case("QuantizeDownAndShrinkRange", x, *ends((least, most)), out_type=tf.quint8)
x = quantized(tf.qint32, few)
case("Requantize", x, *ends((-1, 1), (0, 0)), out_type=tf.quint8)
case("Requantize", x, *ends((-1, 1), (0.5, 1)), out_type=tf.quint8, refused=True)
case("Requantize", x, *ends((-1, 1), (-1, -0.5)), out_type=tf.quint8)
case("Requantize", x, *ends((-1, 1), (-0.5, -1)), out_type=tf.quint8, refused=True)
nothing = some(tf.qint32, 0, 2)
case("Requantize", nothing, *ends((-1, 1), (-1, 1)), out_type=tf.quint8)
case("RequantizationRange", nothing, *ends((-1, 1)))
case("QuantizeDownAndShrinkRange", nothing, *ends((-1, 1)), out_type=tf.quint8)
case("RequantizationRange", quantized(tf.qint32, ints(5, 9, 2000000000)), *ends((-1, 1)))
case("RequantizationRange", quantized(tf.qint32, ints(-5)), *ends((-1, 1)))


def simulated(x, low, high, axis, num_bits=8, signed_input=True, narrow_range=False, round_mode="HALF_TO_EVEN"):
    """QuantizeAndDequantizeV4 with a range for each slice, which TensorFlow 2.21 documents and refuses."""
    least = -(2 ** (num_bits - 1)) + narrow_range if signed_input else 0
    most = 2 ** (num_bits - 1) - 1 if signed_input else 2**num_bits - 1
    least, most, greatest = x.dtype.type(least), x.dtype.type(most), np.finfo(x.dtype).max
    out = np.empty_like(x)
    for i in range(x.shape[axis]):
        at = (slice(None),) * axis + (i,)
        below = least / low[i] if least * low[i] > 0 else greatest
        above = most / high[i] if most * high[i] > 0 else greatest
        scale, step = (below, low[i] / least) if below < above else (above, high[i] / most)
        bottom, top = (low[i], most * step) if below < above else (least * step, high[i])
        scaled = np.maximum(np.minimum(x[at], top), bottom) * scale
        out[at] = (np.floor(scaled + x.dtype.type(0.5)) if round_mode == "HALF_UP" else np.rint(scaled)) * step
    return out


for dtype in (np.float32, np.float64):
    values = uniform(-3, 3, 4, 5, dtype=dtype)
    whole = [dtype(0), dtype(0)]  # a range that is ignored
    for attrs in (
        {}, {"num_bits": 3}, {"num_bits": 3, "round_mode": "HALF_UP"}, {"num_bits": 4, "narrow_range": True},
        {"num_bits": 4, "signed_input": False}, {"num_bits": 61},
    ):
        for op in ("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4"):
            case(op, values, *whole, **attrs)
            case(op, values, dtype(-1.5), dtype(2.0), range_given=True, **attrs)
            case(op, values, dtype(-2.5), dtype(0.1), range_given=True, **attrs)
        for axis, few in ((0, 4), (1, 5)):
            low, high = uniform(-2, 0, few, dtype=dtype), uniform(0, 2, few, dtype=dtype)
            for op in ("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4"):
                case(op, values, low, high, axis=axis, **attrs)
                case(op, values, low, high, axis=axis, range_given=True,
                     expected=[simulated(values, low, high, axis, **attrs)], **attrs)
    for bits in (2, 8):
        for attrs in ({}, {"narrow_range": True}, {"signed_input": False}, {"range_given": False}):
            case("QuantizeAndDequantizeV3", values, dtype(-1.5), dtype(2.0), np.int32(bits), **attrs)
    for low, high in ((-1, 1), (0.5, 2), (0, 0)):
        case("QuantizeAndDequantizeV4Grad", uniform(-1, 1, 4, 5, dtype=dtype), values, dtype(low), dtype(high))
    for axis, few in ((0, 4), (1, 5)):
        low, high = uniform(-2, 0, few, dtype=dtype), uniform(0, 2, few, dtype=dtype)
        case("QuantizeAndDequantizeV4Grad", uniform(-1, 1, 4, 5, dtype=dtype), values, low, high, axis=axis)
    # Halves of a step, and a range on one side of 0.
    halves = np.array([-4, -2.5, -1.5, -0.5, 0, 0.5, 1.5, 2.5, 3], dtype)
    for mode in ("HALF_TO_EVEN", "HALF_UP"):
        case("QuantizeAndDequantizeV4", halves, *whole, num_bits=3, round_mode=mode)
        case("QuantizeAndDequantizeV4", np.abs(halves), *whole, num_bits=3, round_mode=mode)
        case("QuantizeAndDequantizeV4", -np.abs(halves), *whole, num_bits=3, round_mode=mode)
    case("QuantizeAndDequantizeV4", values, dtype(0), dtype(0), range_given=True)
    case("QuantizeAndDequantizeV4", np.zeros((2, 3), dtype), *whole)
    case("QuantizeAndDequantizeV4", values[:, :1], *whole, axis=-1)
    case("QuantizeAndDequantizeV4", values, dtype(1), dtype(-1), range_given=True, refused=True)
    case("QuantizeAndDequantizeV4", values, *whole, num_bits=0, refused=True)
    case("QuantizeAndDequantizeV4", values, *whole, num_bits=63, refused=True)
    case("QuantizeAndDequantizeV4", values, *whole, axis=2, refused=True)
    case("QuantizeAndDequantizeV4Grad", values[:1], values, *whole, refused=True)
