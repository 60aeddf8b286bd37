"""Functions of two numbers and more, with broadcasting."""

import numpy as np
from scipy import special

from golden import bfloat16, case, normal, uniform

FLOATING = (np.float16, bfloat16, np.float32, np.float64)
PRECISE = (np.float32, np.float64)
COMPLEX = (np.complex64, np.complex128)
SIGNED = (np.int8, np.int16, np.int32, np.int64)
UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)
INTEGERS = SIGNED + UNSIGNED
EDGES = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 2.5])
# Pairs of shapes and how they are stretched.
SHAPES = (((), (3,)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((4, 1, 2), (3, 1)), ((0, 2), (1, 2)), ((1,), (1, 1)))


def numbers(dtype, *shape, low=-4, high=4):
    """Numbers of the type that are not 0."""
    kind = np.dtype(dtype).kind
    if kind in "iu":
        values = uniform(max(low, 0 if kind == "u" else low), high, *shape, dtype=np.int32)
        return np.where(values == 0, 3, values).astype(dtype)
    values = uniform(low, high, *shape, dtype=np.float64)
    if kind == "c":
        values = values + 1j * uniform(low, high, *shape, dtype=np.float64)
    return np.where(np.abs(values) < 0.1, 1.5, values).astype(dtype)


def all_pairs(values, dtype):
    return values.astype(dtype)[:, None], values.astype(dtype)[None, :]


def over_types_and_shapes(op, types, shape_type=np.float32, **attrs):
    for dtype in types:
        case(op, numbers(dtype, 2, 5), numbers(dtype, 2, 5), **attrs)
    for a, b in SHAPES:
        case(op, numbers(shape_type, *a), numbers(shape_type, *b), **attrs)


ADDED = FLOATING + COMPLEX + INTEGERS
for op, types in (
    ("Add", FLOATING + COMPLEX + SIGNED + (np.uint8,)),
    ("AddV2", ADDED),
    ("Sub", ADDED),
    ("Mul", ADDED),
    ("Div", ADDED),
    ("RealDiv", FLOATING + COMPLEX),
    ("FloorDiv", FLOATING + INTEGERS),
    ("TruncateDiv", FLOATING + INTEGERS),
    ("Mod", PRECISE + (np.int32, np.int64)),
    ("TruncateMod", PRECISE + (np.int32, np.int64)),
    ("FloorMod", FLOATING + INTEGERS),
    ("Maximum", FLOATING + INTEGERS),
    ("Minimum", FLOATING + INTEGERS),
    ("SquaredDifference", FLOATING + COMPLEX + (np.int32, np.int64)),
    ("DivNoNan", FLOATING + COMPLEX),
    ("Xdivy", FLOATING + COMPLEX),
    ("Atan2", FLOATING),
):
    over_types_and_shapes(op, types)
    case(op, numbers(np.float32, 37), np.float32(1.5))
    case(op, np.float64(-2.5), numbers(np.float64, 3, 7))
    for dtype in PRECISE:
        case(op, *all_pairs(EDGES, dtype))

# Sums of whole numbers wrap around, strings are joined.
for op in ("AddV2", "Sub", "Mul"):
    for dtype in INTEGERS:
        limits = np.iinfo(dtype)
        case(op, np.array([limits.max, limits.min, 7], dtype), np.array([limits.max, 1, 100], dtype))
case("Add", np.array([b"a", b"", b"bc"]), np.array([b"x", b"y", b""]))
case("Add", np.array([[b"a"], [b"b"]]), np.array(b"c"))

# Quotients of whole numbers with every pair of signs, and by zero.
dividends, divisors = np.array([[7], [-7], [6], [-6], [0]]), np.array([[3, -3, 1, -1]])
for op in ("Div", "FloorDiv", "TruncateDiv", "FloorMod", "TruncateMod", "Mod"):
    for dtype in (np.int32, np.int64):
        case(op, dividends.astype(dtype), divisors.astype(dtype))
        case(op, np.array([1, 2], dtype), np.array([1, 0], dtype), refused=True)
        case(op, np.array([1, 2], dtype), dtype(0), refused=True)
    case(op, np.zeros((0,), np.int32), np.array([0], np.int32))
    case(op, dividends.astype(np.float32), divisors.astype(np.float32))

# Powers.
for dtype in FLOATING + COMPLEX + SIGNED:
    base = np.abs(numbers(dtype, 2, 5)) if np.dtype(dtype).kind != "c" else numbers(dtype, 2, 5)
    power = np.abs(numbers(dtype, 2, 5)) if np.dtype(dtype).kind == "i" else numbers(dtype, 2, 5)
    case("Pow", base.astype(dtype), power.astype(dtype), tolerance=0.02 if dtype in (np.float16, bfloat16) else None)
for a, b in SHAPES:
    case("Pow", np.abs(numbers(np.float32, *a)), numbers(np.float32, *b))
for dtype in PRECISE:
    case("Pow", *all_pairs(EDGES, dtype))
for dtype in (np.int32, np.int64):
    case("Pow", np.array([2, 3, -2], dtype), np.array([10, 0, 3], dtype))
    case("Pow", np.array([2, 3], dtype), np.array([1, -1], dtype), refused=True)
case("Pow", normal(2, 3), np.float32(2))
case("Pow", normal(2, 3), np.float32(1))

# Logarithms.
for dtype in FLOATING + COMPLEX:
    case("Xlogy", numbers(dtype, 2, 5), np.abs(numbers(dtype, 2, 5)).astype(dtype))
for a, b in SHAPES:
    case("Xlogy", numbers(np.float32, *a), np.abs(numbers(np.float32, *b)))
for dtype in PRECISE:
    case("Xlogy", *all_pairs(EDGES, dtype))
for op in ("Xlogy", "Xdivy", "DivNoNan"):
    for dtype in COMPLEX:
        case(op, np.array([0, 0, 1 + 1j], dtype), np.array([0, 1j, 2], dtype))

# Comparisons.
for op in ("Equal", "NotEqual", "Greater", "GreaterEqual", "Less", "LessEqual"):
    ordered = op not in ("Equal", "NotEqual")
    for dtype in FLOATING + INTEGERS + (() if ordered else COMPLEX):
        case(op, numbers(dtype, 3, 5, low=-2, high=2), numbers(dtype, 5, low=-2, high=2))
        same = numbers(dtype, 4)
        case(op, same, same)
    for a, b in SHAPES:
        case(op, np.round(numbers(np.float32, *a)), np.round(numbers(np.float32, *b)))
    for dtype in PRECISE:
        case(op, *all_pairs(EDGES, dtype))
    if not ordered:
        case(op, np.array([True, False, True]), np.array([True, True, False]))
        case(op, np.array([b"a", b"b", b""]), np.array([b"a", b"c", b""]))
        case(op, np.array([b"a", b"b"]), np.array(b"a"))
        case(op, np.ones((2, 3), np.float32), np.ones((2,), np.float32), incompatible_shape_error=False)
        case(op, np.ones((2, 3), np.float32), np.ones((3,), np.float32), incompatible_shape_error=False)
for dtype in PRECISE:
    a = np.array([[1, 2, 3, np.nan, np.inf]], dtype)
    b = np.array([[1, 2.0000005, 3.5, np.nan, np.inf]], dtype)
    case("ApproximateEqual", a, b)
    case("ApproximateEqual", a, b, tolerance=1.0)
    case("ApproximateEqual", a, b, tolerance=0.0)
for values in (np.int32, np.uint8, np.int64):
    a, b = np.array([1, 2, 3, 9], values), np.array([1, 3, 1, 0], values)
    case("ApproximateEqual", a, b, tolerance=1.5, expected=[np.array([True, True, False, False])])
case("ApproximateEqual", np.zeros((0, 2), np.float32), np.zeros((0, 2), np.float32))
case("ApproximateEqual", np.float32(1), np.float32(1.000001))

# Truth values.
truth = np.array([True, True, False, False]), np.array([True, False, True, False])
for op in ("LogicalAnd", "LogicalOr"):
    case(op, *truth)
    case(op, truth[0][:, None], truth[1])
    case(op, truth[0], np.bool_(True))
    case(op, np.bool_(False), truth[1])
    case(op, np.zeros((0, 4), bool), truth[0])
    case(op, np.bool_(True), np.bool_(False))
    case(op, np.arange(40) % 3 == 0, np.arange(40) % 2 == 0)

# Bits.
for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
    for dtype in INTEGERS:
        limits = np.iinfo(dtype)
        case(op, np.array([0b1100, limits.max, limits.min], dtype)[:, None], np.array([0b1010, limits.max, 1], dtype))
    case(op, np.zeros((0, 2), np.int32), np.array([1, 2], np.int32))
for op in ("LeftShift", "RightShift"):
    for dtype in INTEGERS:
        limits = np.iinfo(dtype)
        distances = [0, 1, 3, 8 * np.dtype(dtype).itemsize - 1, 8 * np.dtype(dtype).itemsize, 100]
        if np.dtype(dtype).kind == "i":
            distances += [-1, limits.min]
        case(op, np.array([1, 5, limits.max, limits.min], dtype)[:, None], np.array(distances, dtype))
    case(op, np.zeros((0, 2), np.int32), np.array([1, 2], np.int32))

# Complex numbers of real ones.
for part, whole in zip(PRECISE, COMPLEX):
    for a, b in SHAPES:
        case("Complex", numbers(part, *a), numbers(part, *b), Tout=whole)
    case("Complex", np.array([np.nan, 1, -0.0], part), np.array([1, np.inf, -0.0], part), Tout=whole)

# Sums of many.
for dtype in ADDED:
    case("AddN", [numbers(dtype, 2, 3) for _ in range(3)])
case("AddN", [numbers(np.float32, 37)])
case("AddN", [numbers(np.float32, 2, 1) for _ in range(7)])
case("AddN", [np.zeros((0, 2), np.float32)] * 2)
case("AddN", [np.array([np.nan, np.inf], np.float32), np.array([1, -np.inf], np.float32)])

# Special functions.
for dtype in PRECISE:
    x = np.array([1.0, 1.1, 1.5, 2, 3, 7.5, 40, 0.5, np.nan], dtype)[:, None]
    q = np.array([0.25, 1, 3, 11.5, 100, 1e4, np.nan], dtype)
    case("Zeta", x, q)
    case("Zeta", np.array([2, 3, 4], dtype)[:, None], np.array([-0.5, -2.25, 0, -1], dtype))
    case("Zeta", np.array([2.5], dtype), np.array([-0.5], dtype))
    order = np.array([0, 1, 2, 3, 9, -1, 0.5], dtype)[:, None]
    case("Polygamma", order, np.array([0.75, 1, 2.5, 12, 100, np.nan], dtype))
    case("Polygamma", np.array([1, 2, 3], dtype)[:, None], np.array([-0.5, -2.25, 0, -1], dtype))
    a = np.array([0.1, 0.5, 1, 2.5, 10, 100, 1e4], dtype)
    x = np.array([0, 0.01, 0.5, 1, 3, 12, 99, 1e4, np.inf], dtype)
    for op, function in (("Igamma", special.gammainc), ("Igammac", special.gammaincc)):
        exact = function(a.astype(np.float64)[:, None], x.astype(np.float64)).astype(dtype)
        case(op, a[:, None], x, expected=[exact], tolerance=1e-11 if dtype == np.float64 else None)
        case(op, a[:3], x[1:4])
        case(op, np.array([-1, 0, 1, np.nan, 1], dtype), np.array([1, 1, -1, 1, np.nan], dtype))
    case("IgammaGradA", a[:6, None], x[1:7], tolerance=1e-5 if dtype == np.float32 else 1e-9)
    case("IgammaGradA", a[:3], x[1:4])
    shares = np.array([0, 0.01, 0.25, 0.5, 0.9, 1], dtype)
    for first, second in ((0.5, 0.5), (1, 1), (2, 3), (40, 0.3), (200, 300)):
        exact = special.betainc(first, second, shares.astype(np.float64)).astype(dtype)
        case("Betainc", dtype(first), dtype(second), shares, expected=[exact], tolerance=1e-11 if dtype == np.float64 else None)
    case("Betainc", np.array([1, 2], dtype), np.array([3, 0.5], dtype), np.array([0.25, 0.5], dtype))
    case("Betainc", np.array([-1, 0, 1, 1, 1], dtype), np.array([1, 1, -1, 1, 1], dtype), np.array([0.5, 0.5, 0.5, -0.1, 1.5], dtype))
case("Zeta", np.array([2.0, 3, 4]), np.array([-7.75, -3.5, -20.25]))
for op in ("Zeta", "Polygamma", "Igamma", "Igammac", "IgammaGradA"):
    case(op, np.zeros((0, 2), np.float32), np.ones((1, 2), np.float32))
    case(op, np.float32(2), np.full((2, 2), 1.5, np.float32))
case("Betainc", np.ones((0,), np.float32), np.ones((0,), np.float32), np.ones((0,), np.float32))
for dtype in (np.float32, np.float64, np.int32, np.int64, np.uint8, np.complex64):
    case("AccumulateNV2", [numbers(dtype, 2, 3) for _ in range(3)], shape=[2, 3])
case("AccumulateNV2", [numbers(np.float32, 37)], shape=[37])
case("AccumulateNV2", [numbers(np.float32, 2, 1) for _ in range(7)], shape=[2, 1])
case("AccumulateNV2", [np.zeros((0, 2), np.float32)] * 2, shape=[0, 2])
case("AccumulateNV2", [np.float32(1), np.float32(2)], shape=[])
