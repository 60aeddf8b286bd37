"""Shapes as values, unchanged tensors, and tensors of one value."""

import numpy as np

from golden import bfloat16, case, some, uniform

FLOATING = (np.float16, bfloat16, np.float32, np.float64)
WHOLE = (np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int16, np.int32, np.int64)
NUMBERS = FLOATING + WHOLE + (np.complex64, np.complex128)
INDICES = (np.int32, np.int64)

for op in ("Identity", "StopGradient", "PreventGradient"):
    for dtype in (bool, str, np.float32, np.int64, np.complex64):
        case(op, some(dtype, 2, 3))
    case(op, np.float32(1.5))
    case(op, np.zeros((0, 3), np.float32))
case("PreventGradient", some(np.float32, 2), message="none")
case("IdentityN", [some(np.float32, 2), some(np.int64, 1, 2), some(str, 3)])
case("IdentityN", [some(bool, 2)])
case("IdentityN", [np.zeros((0, 2), np.float64), np.int32(1)])
for dtype in (np.uint8, np.complex128, bfloat16):
    case("IdentityN", [some(dtype, 2), some(dtype, 2, 1)])
for dtype in (np.float32, str, bool, np.int32):
    case("PlaceholderWithDefault", some(dtype, 2, 3), shape=[2, 3])
case("PlaceholderWithDefault", some(np.float64, 2, 3), shape=[None, 3])
case("PlaceholderWithDefault", np.float32(3), shape=[])
for dtype in (np.float32, str, bool, np.int32):
    case("EnsureShape", some(dtype, 2, 3), shape=[2, None])
case("EnsureShape", np.zeros((0,), np.float32), shape=[0])
case("EnsureShape", np.float32(3), shape=[])
for dtype in FLOATING:
    case("CheckNumerics", some(dtype, 2, 3), message="x")
for bad in (np.nan, np.inf, -np.inf):
    case("CheckNumerics", np.array([1, bad], np.float32), message="x", refused=True)
    case("CheckNumerics", np.array([bad, 0], np.float64), message="x", refused=True)
case("CheckNumerics", np.zeros((0, 2), np.float32), message="x")

for op in ("ZerosLike", "OnesLike"):
    for dtype in NUMBERS + (bool,):
        case(op, some(dtype, 2, 3))
    case(op, np.float32(3))
    case(op, np.zeros((2, 0), np.float32))
case("ZerosLike", some(str, 2))
for dtype in NUMBERS + (bool, str):
    case("Fill", np.array([2, 3], np.int32), some(dtype))
case("Fill", np.array([], np.int64), np.float32(2))
case("Fill", np.array([0, 3], np.int64), np.float32(2))
case("Fill", np.array([-1], np.int32), np.float32(2), refused=True)
for dtype in (np.float32, np.float64, np.int32, np.int64, np.complex64, bool, np.uint8):
    case("Empty", np.array([2, 3], np.int32), dtype=dtype, init=True)
case("Empty", np.array([], np.int32), dtype=np.float32, init=True)
case("Empty", np.array([3, 0], np.int32), dtype=np.float32, init=False)

for shape in ((), (3,), (2, 3), (2, 0, 4), (1, 1, 1, 1, 1)):
    value = some(np.float32, *shape)
    case("Rank", value)
    for out_type in INDICES:
        case("Shape", value, out_type=out_type)
        case("Size", value, out_type=out_type)
        case("ShapeN", [value, value.reshape(-1)], out_type=out_type)
case("Rank", some(str, 2, 3))
case("Shape", some(str, 2, 3))
case("Size", some(bool, 2, 3))

for dtype in (np.float32, np.int8, bool, str, np.complex128, bfloat16):
    case("Reshape", some(dtype, 2, 6), np.array([3, -1], np.int32))
    case("ExpandDims", some(dtype, 2, 3), np.int32(1))
    case("Squeeze", some(dtype, 1, 2, 1), squeeze_dims=[0])
for target in ((12,), (2, -1, 3), (1, 12, 1), (-1,), (3, 4)):
    case("Reshape", some(np.float32, 4, 3), np.array(target, np.int64))
case("Reshape", np.zeros((0, 3), np.float32), np.array([3, 0], np.int32))
case("Reshape", np.zeros((1, 1), np.float32), np.array([], np.int32))
for target in ((5, -1), (-1, -1), (4, 4)):
    case("Reshape", some(np.float32, 4, 3), np.array(target, np.int32), refused=True)
for axis in (0, 2, -1, -3):
    case("ExpandDims", some(np.float32, 2, 3), np.int32(axis))
case("ExpandDims", np.float32(2), np.int64(0))
for axis in (3, -4):
    case("ExpandDims", some(np.float32, 2, 3), np.int32(axis), refused=True)
for dims in ([], [0, 3], [-1], [-4, 3]):
    case("Squeeze", some(np.float32, 1, 2, 3, 1), squeeze_dims=dims)
case("Squeeze", np.zeros((1, 0), np.float32))
case("Squeeze", some(np.float32, 1, 1))
case("Squeeze", some(np.float32, 1, 2), squeeze_dims=[1], refused=True)

for a, b in (
    ([2, 1, 5], [3, 1]),
    ([], [2, 3]),
    ([2, 3], []),
    ([1], [1]),
    ([4, 1, 1], [4, 7, 2]),
    ([0, 3], [1, 3]),
    ([5], [2, 5]),
):
    for dtype in INDICES:
        a, b = np.array(a, dtype), np.array(b, dtype)
        case("BroadcastArgs", a, b)
        case("BroadcastGradientArgs", a, b)
case("BroadcastArgs", np.array([2], np.int32), np.array([3], np.int32), refused=True)
case("BroadcastGradientArgs", np.array([2, 3], np.int32), np.array([2], np.int32), refused=True)
for dtype in NUMBERS + (bool,):
    case("BroadcastTo", some(dtype, 3, 1), np.array([2, 3, 2], np.int32))
case("BroadcastTo", np.float32(2), np.array([2, 2], np.int64))
case("BroadcastTo", np.zeros((1, 0), np.float32), np.array([2, 0], np.int64))
case("BroadcastTo", some(np.float32, 2), np.array([3], np.int64), refused=True)

for dtype in INDICES:
    for order in ([0], [2, 0, 1], [3, 2, 1, 0], []):
        case("InvertPermutation", np.array(order, dtype))
    for order in ([1, 1], [0, 2], [-1, 0]):
        case("InvertPermutation", np.array(order, dtype), refused=True)
    case("ConcatOffset", np.int32(1), [np.array([2, n, 5], dtype) for n in (3, 0, 4)])
    case("ConcatOffset", np.int32(-1), [np.array([2, n], dtype) for n in (3, 7)])
    case("ConcatOffset", np.int32(0), [np.array([n], dtype) for n in (1, 2, 3, 4)])
case("ConcatOffset", np.int32(0), [np.array([1, 2], np.int32), np.array([1, 3], np.int32)], refused=True)

for source in (np.uint8, np.int8, np.float16, np.int32, np.float32, np.float64, np.complex64, np.complex128):
    for target in (np.uint8, np.uint16, np.int32, np.uint64, np.complex128):
        ratio = np.dtype(target).itemsize // np.dtype(source).itemsize
        bits = uniform(0, 60, 2, max(ratio, 2) * np.dtype(source).itemsize, dtype=np.uint8)
        values = bits.view(source)
        case("Bitcast", values if ratio <= 1 else values.reshape(2, 1, ratio), type=target)
case("Bitcast", np.zeros((0, 4), np.uint8), type=np.float32)
case("Bitcast", some(np.uint8, 2, 3), type=np.float32, refused=True)
