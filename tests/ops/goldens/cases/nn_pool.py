"""Poolings and their gradients."""

import itertools

import numpy as np

from golden import bfloat16, case, normal, uniform

FLOATING = (np.float16, bfloat16, np.float32, np.float64)
WHOLE = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64)


def geometry(window, strides, padding, **more):
    return {"ksize": [1, *window, 1], "strides": [1, *strides, 1], "padding": padding, **more}


def outputs(extents, window, strides, padding, pads=None):
    """The number of windows on each axis."""
    if padding == "SAME":
        return [-(-extent // stride) for extent, stride in zip(extents, strides)]
    pads = pads or [(0, 0)] * len(extents)
    return [(extent + sum(pad) - size) // stride + 1 for extent, size, stride, pad in zip(extents, window, strides, pads)]


def values(dtype, *dims):
    return normal(*dims).astype(dtype) if dtype in FLOATING else uniform(0, 100, *dims, dtype=dtype)


GEOMETRIES = [
    ((2, 2), (2, 2), "VALID"),
    ((3, 2), (1, 2), "SAME"),
    ((2, 3), (3, 1), "SAME"),
    ((1, 1), (2, 2), "VALID"),
    ((5, 4), (1, 1), "VALID"),
]

for dtype in (*FLOATING, *WHOLE):
    case("MaxPool", values(dtype, 2, 5, 4, 3), **geometry((2, 2), (2, 1), "SAME"))
for dtype in FLOATING:
    case("AvgPool", values(dtype, 2, 5, 4, 3), **geometry((2, 2), (2, 1), "SAME"))
    case("AvgPoolGrad", np.array([2, 5, 4, 3], np.int32), values(dtype, 2, 3, 4, 3), **geometry((2, 2), (2, 1), "SAME"))
for dtype in (*FLOATING, *WHOLE):
    x = values(dtype, 1, 5, 4, 2)
    y, dy = np.zeros((1, 3, 4, 2), dtype), values(dtype, 1, 3, 4, 2)
    case("MaxPoolGrad", x, y, dy, **geometry((2, 2), (2, 1), "SAME"))

for window, strides, padding in GEOMETRIES:
    x = normal(2, 5, 4, 2)
    out = outputs((5, 4), window, strides, padding)
    at = geometry(window, strides, padding)
    dy = normal(2, *out, 2)
    case("MaxPool", x, **at)
    case("AvgPool", x, **at)
    case("MaxPoolGrad", x, np.zeros_like(dy), dy, **at)
    case("AvgPoolGrad", np.array(x.shape, np.int32), dy, **at)
    for Targmax, whole in ((np.int64, False), (np.int32, True)):
        case("MaxPoolWithArgmax", x, Targmax=Targmax, include_batch_in_index=whole, **at)

# Elements that are equal: the first one counts.
equal = np.ones((1, 4, 4, 2), np.float32)
case("MaxPoolGrad", equal, np.ones((1, 3, 3, 2), np.float32), normal(1, 3, 3, 2), **geometry((2, 2), (1, 1), "VALID"))
case("MaxPoolWithArgmax", equal, Targmax=np.int64, **geometry((3, 3), (1, 1), "SAME"))

# Padding as users want it.
for pads in ([(1, 0), (0, 1)], [(1, 1), (1, 2)]):
    more = {"explicit_paddings": [0, 0, *pads[0], *pads[1], 0, 0]}
    x = normal(2, 4, 5, 2) - 3
    out = outputs((4, 5), (2, 3), (2, 1), "EXPLICIT", pads)
    at = geometry((2, 3), (2, 1), "EXPLICIT", **more)
    case("MaxPool", x, **at)
    dy = normal(2, *out, 2)
    y = np.zeros_like(dy)
    case("MaxPoolGrad", x, y, dy, **at)


def first(x):
    """The same with the channels before the axes."""
    return np.ascontiguousarray(np.moveaxis(x, -1, 1))


# Channels first; TensorFlow's processor has none of these. Windows that do not overlap cover all.
x = uniform(-5, 5, 2, 4, 6, 3)
tiles = x.reshape(2, 2, 2, 3, 2, 3)
nchw = {"ksize": [1, 1, 2, 2], "strides": [1, 1, 2, 2], "padding": "VALID", "data_format": "NCHW"}
highest, mean, dy = tiles.max((2, 4)), tiles.mean((2, 4)), normal(2, 2, 3, 3)
spread = np.repeat(np.repeat(dy, 2, 1), 2, 2)
chosen = np.repeat(np.repeat(highest, 2, 1), 2, 2) == x
case("MaxPool", first(x), expected=[first(highest)], **nchw)
case("AvgPool", first(x), expected=[first(mean)], **nchw)
case("MaxPoolGrad", first(x), first(highest), first(dy), expected=[first(spread * chosen)], **nchw)
case("AvgPoolGrad", np.array([2, 3, 4, 6], np.int32), first(dy), expected=[first(spread / 4)], **nchw)

# Gradients of gradients, of which TensorFlow's processor has one.
g = normal(2, 4, 6, 3)
taken = (g * chosen).reshape(tiles.shape).sum((2, 4))
even = geometry((2, 2), (2, 2), "VALID")
for dtype in (np.float16, bfloat16, np.float32, np.float64, np.int32, np.int64):
    parts = [value.astype(dtype) for value in (x, highest, g)]
    on = (np.repeat(np.repeat(parts[1], 2, 1), 2, 2) == parts[0]).reshape(tiles.shape)
    if (on.sum((2, 4)) == 1).all():
        wanted = (parts[2].reshape(tiles.shape) * on).sum((2, 4)).astype(dtype)
        case("MaxPoolGradGrad", *parts, expected=[wanted], **even)
case("MaxPoolGradGrad", first(x), first(highest), first(g), expected=[first(taken)], **nchw)
case("MaxPoolGradGrad", np.zeros((0, 4, 4, 1), np.float32), np.zeros((0, 2, 2, 1), np.float32), np.zeros((0, 4, 4, 1), np.float32), expected=[np.zeros((0, 2, 2, 1), np.float32)], **even)

# At given positions.
for Targmax, whole, dtype in itertools.product((np.int32, np.int64), (False, True), (np.float32, np.float64)):
    image = np.arange(x[0].size).reshape(x[0].shape)
    places = np.stack([image + (i * x[0].size if whole else 0) for i in range(2)])
    where = (places * chosen).reshape(tiles.shape).max((2, 4)).astype(Targmax)
    at = {**even, "include_batch_in_index": whole, "Targmax": Targmax}
    del at["Targmax"]
    case("MaxPoolGradWithArgmax", x.astype(dtype), dy.astype(dtype), where, expected=[(spread * chosen).astype(dtype)], **at)
    case("MaxPoolGradGradWithArgmax", x.astype(dtype), g.astype(dtype), where, expected=[taken.astype(dtype)], **at)

# Volumes.
for window, strides, padding in (((2, 2, 2), (2, 2, 2), "VALID"), ((2, 1, 3), (1, 1, 2), "SAME"), ((1, 1, 1), (1, 2, 1), "SAME")):
    for dtype in (bfloat16, np.float32):
        x = normal(1, 3, 4, 3, 2).astype(dtype)
        out = outputs((3, 4, 3), window, strides, padding)
        at = geometry(window, strides, padding)
        dy = normal(1, *out, 2).astype(dtype)
        y = np.zeros_like(dy)
        case("MaxPool3D", x, **at)
        case("AvgPool3D", x, tolerance=0.02 if dtype == bfloat16 else None, **at)
        case("AvgPool3DGrad", np.array(x.shape, np.int32), dy, tolerance=0.03 if dtype == bfloat16 else None, **at)
x = uniform(-5, 5, 1, 4, 2, 6, 2)
tiles = x.reshape(1, 2, 2, 1, 2, 3, 2, 2)
highest, mean, dy, g = tiles.max((2, 4, 6)), tiles.mean((2, 4, 6)), normal(1, 2, 1, 3, 2), normal(*x.shape)


def repeated(value):
    return value.repeat(2, 1).repeat(2, 2).repeat(2, 3)


chosen = repeated(highest) == x
for dtype in (np.float16, bfloat16, np.float32):
    at = geometry((2, 2, 2), (2, 2, 2), "VALID")
    parts = [value.astype(dtype) for value in (x, highest, dy, g)]
    on = repeated(parts[1]) == parts[0]
    if (on.reshape(tiles.shape).sum((2, 4, 6)) == 1).all():
        case("MaxPool3DGrad", *parts[:3], expected=[repeated(parts[2]) * on], **at)
        taken = (parts[3] * on).reshape(tiles.shape).sum((2, 4, 6))
        case("MaxPool3DGradGrad", parts[0], parts[1], parts[3], expected=[taken.astype(dtype)], **at)
for a, b, c in ((1, 2, 1), (1, 1, 2), (4, 2, 3)):
    highest_there = x.reshape(1, 4 // a, a, 2 // b, b, 6 // c, c, 2).max((2, 4, 6))
    case("MaxPool3DGrad", x, highest_there, normal(*highest_there.shape), **geometry((a, b, c), (a, b, c), "VALID"))
ncdhw = {"ksize": [1, 1, 2, 2, 2], "strides": [1, 1, 2, 2, 2], "padding": "VALID", "data_format": "NCDHW"}
case("MaxPool3D", first(x), expected=[first(highest)], **ncdhw)
case("AvgPool3D", first(x), expected=[first(mean)], **ncdhw)
case("MaxPool3DGrad", first(x), first(highest), first(dy), expected=[first(repeated(dy) * chosen)], **ncdhw)
case("AvgPool3DGrad", np.array([1, 2, 4, 2, 6], np.int32), first(dy), expected=[first(repeated(dy) / 8)], **ncdhw)
case("MaxPool3DGradGrad", first(x), first(highest), first(g), expected=[first((g * chosen).reshape(tiles.shape).sum((2, 4, 6)))], **ncdhw)
for window, strides, padding in (((2, 1, 2), (2, 1, 2), "VALID"), ((2, 2, 2), (1, 1, 1), "SAME"), ((1, 2, 1), (1, 1, 1), "VALID")):
    x = normal(1, 3, 2, 4, 1)
    dy = np.zeros((1, *outputs((3, 2, 4), window, strides, padding), 1), np.float32)
    at = geometry(window, strides, padding)
    case("MaxPool3DGradGrad", x, np.zeros_like(dy), np.zeros_like(x), expected=[np.zeros_like(dy)], **at)

# Empty tensors.
for op in ("MaxPool", "AvgPool"):
    case(op, np.zeros((0, 4, 4, 3), np.float32), **geometry((2, 2), (1, 1), "SAME"))
    case(op, normal(1, 1, 1, 1), **geometry((3, 3), (2, 2), "SAME"))

# Shapes that do not fit.
for op in ("MaxPool", "AvgPool"):
    x = normal(1, 3, 3, 1)
    case(op, x, **geometry((4, 1), (1, 1), "VALID"), refused=True)
    case(op, x, **geometry((0, 1), (1, 1), "SAME"), refused=True)
    case(op, x, **geometry((2, 2), (0, 1), "SAME"), refused=True)
    case(op, x, ksize=[2, 2, 2, 1], strides=[1, 1, 1, 1], padding="SAME", refused=True)
    case(op, normal(3, 3, 1), **geometry((2, 2), (1, 1), "SAME"), refused=True)
case("MaxPoolGrad", normal(1, 3, 3, 1), normal(1, 2, 2, 1), normal(1, 3, 2, 1), **geometry((2, 2), (1, 1), "VALID"), refused=True)
case("AvgPoolGrad", np.array([1, 3, 3], np.int32), normal(1, 2, 2, 1), **geometry((2, 2), (1, 1), "VALID"), refused=True)


def dilated(extent, size, stride, rate, padding):
    return -(-extent // stride) if padding == "SAME" else (extent - (size - 1) * rate - 1) // stride + 1


def dilations(dtype, dims, window, strides, rates, padding):
    x, w = values(dtype, *dims), values(dtype, *window, dims[3])
    out = [dilated(dims[i + 1], window[i], strides[i], rates[i], padding) for i in range(2)]
    dy = values(dtype, dims[0], *out, dims[3])
    at = {"strides": [1, *strides, 1], "rates": [1, *rates, 1], "padding": padding}
    case("Dilation2D", x, w, **at)
    case("Dilation2DBackpropInput", x, w, dy, **at)
    case("Dilation2DBackpropFilter", x, w, dy, **at)


for dtype in (*FLOATING, *WHOLE):
    dilations(dtype, (2, 5, 4, 3), (2, 2), (2, 1), (1, 1), "SAME")
for window, strides, rates, padding in (
    ((2, 3), (1, 1), (1, 1), "VALID"),
    ((3, 2), (2, 1), (1, 2), "SAME"),
    ((1, 1), (3, 2), (1, 1), "VALID"),
    ((5, 4), (1, 1), (1, 1), "VALID"),
    ((3, 3), (1, 2), (2, 1), "SAME"),
    ((2, 2), (4, 4), (1, 1), "SAME"),
):
    dilations(np.float32, (2, 5, 4, 2), window, strides, rates, padding)
dilations(np.float32, (0, 5, 4, 2), (2, 2), (1, 1), (1, 1), "SAME")
# Elements that are equal: the first one counts.
for padding in ("SAME", "VALID"):
    at = {"strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding": padding}
    size = 4 if padding == "SAME" else 3
    dy = normal(1, size, size, 2)
    case("Dilation2DBackpropInput", equal, np.zeros((2, 2, 2), np.float32), dy, **at)
    case("Dilation2DBackpropFilter", equal, np.zeros((2, 2, 2), np.float32), dy, **at)
case("Dilation2D", normal(1, 2, 2, 1), normal(4, 4, 1), strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="VALID", refused=True)
