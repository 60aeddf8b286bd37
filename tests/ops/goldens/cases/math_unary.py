"""Functions of one number."""

import itertools

import numpy as np
from scipy import special

from golden import bfloat16, case, normal, uniform

FLOATING = (np.float16, bfloat16, np.float32, np.float64)
PRECISE = (np.float32, np.float64)
COMPLEX = (np.complex64, np.complex128)
SIGNED = (np.int8, np.int16, np.int32, np.int64)
UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)
INTEGERS = SIGNED + UNSIGNED
EDGES = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-7, -1e-7, 0.5, -0.5)
EMPTY = np.zeros((0, 3), np.float32)
MANY = 37  # longer than a vector, and no multiple of one


def between(low, high, dtype, *shape):
    values = uniform(low, high, *shape, dtype=np.float64)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * uniform(-1, 1, *shape, dtype=np.float64)
    return values.astype(dtype)


# Functions of real and complex numbers, over an interval where they are defined.
for op, low, high in (
    ("Reciprocal", 0.2, 4),
    ("Inv", 0.2, 4),
    ("Exp", -5, 4),
    ("Expm1", -1, 1),
    ("Log", 0.1, 9),
    ("Log1p", -0.5, 3),
    ("Sin", -7, 7),
    ("Cos", -7, 7),
    ("Tan", -1.2, 1.2),
    ("Asin", -1, 1),
    ("Acos", -1, 1),
    ("Atan", -5, 5),
    ("Sinh", -4, 4),
    ("Cosh", -4, 4),
    ("Tanh", -3, 3),
    ("Asinh", -5, 5),
    ("Acosh", 1, 6),
    ("Atanh", -0.95, 0.95),
    ("Sigmoid", -6, 6),
    ("Sqrt", 0, 9),
    ("Rsqrt", 0.1, 9),
    ("Square", -4, 4),
    ("Neg", -4, 4),
    ("Sign", -4, 4),
):
    for dtype in FLOATING + COMPLEX:
        case(op, between(low, high, dtype, 3, 5))
    for dtype in PRECISE:
        case(op, between(low, high, dtype, MANY))
        case(op, np.array(EDGES, dtype))
    case(op, EMPTY)
    case(op, np.float32(0.25 * low + 0.75 * high))
    case(op, between(low, high, np.float32, 1, 1, 1))

# Numbers near 0, for which e^x - 1 and log(1 + x) exist, and extreme ones.
for dtype in PRECISE:
    small = np.array([1e-3, -1e-3, 1e-6, -1e-6, 1e-12, -1e-30], dtype)
    for op in ("Expm1", "Log1p", "Sinh", "Asinh", "Atanh"):
        case(op, small, tolerance=1e-9 if dtype == np.float32 else None)
    case("Expm1", np.array([80, -80, 200, -200, 2, -2], dtype))
    case("Log1p", np.array([1e10, 1e30, -1.5, -1, -0.99, 3], dtype))
    case("Exp", np.array([88, -87, 1000, -1000], dtype))
    case("Sin", np.array([100, -1e3, 1e5], dtype))
    case("Cos", np.array([100, -1e3, 1e5], dtype))
    case("Acosh", np.array([1, 0.5, -3, 1e10], dtype))
    case("Sigmoid", np.array([100, -100, 1000, -1000], dtype))

# Functions of real numbers.
for op, low, high in (("Abs", -4, 4), ("Erf", -3, 3), ("Erfc", -3, 3), ("Lgamma", 0.1, 9), ("Digamma", 0.1, 9)):
    for dtype in FLOATING:
        values = between(low, high, dtype, 3, 5)
        if dtype is bfloat16 and op in ("Lgamma", "Digamma"):
            function = {"Lgamma": special.gammaln, "Digamma": special.digamma}[op]
            case(op, values, expected=[function(values.astype(np.float64)).astype(dtype)])
        else:
            case(op, values)
    for dtype in PRECISE:
        case(op, between(low, high, dtype, MANY))
        edges = np.array(EDGES, dtype)
        case(op, edges, expected=[special.erf(edges)] if op == "Erf" else None)
    case(op, EMPTY)
    case(op, np.float32(2.5))
for dtype in PRECISE:
    case("Lgamma", np.array([-0.5, -1.5, -2, 1, 2, 100, 1e5], dtype))
    case("Digamma", np.array([-0.5, -1.5, -2, 1, 2, 100, 1e5], dtype))
    case("Erfc", np.array([5, 8, -8, 0.01], dtype))

# Rounding.
halves = np.array([-3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, -0.2, 0.2, 0.0, -0.0, 1e9, -1e9])
for op in ("Ceil", "Floor", "Round", "Rint"):
    for dtype in FLOATING:
        values = np.clip(halves, -1000, 1000).astype(dtype) if dtype == np.float16 else halves.astype(dtype)
        if op == "Rint" and dtype not in PRECISE:
            case(op, values, expected=[np.rint(values.astype(np.float32)).astype(dtype)])
        else:
            case(op, values)
    for dtype in PRECISE:
        case(op, np.array(EDGES, dtype))
        case(op, between(-20, 20, dtype, MANY))
    case(op, EMPTY)
    case(op, np.float32(-1.75))
for dtype in (np.int32, np.int64):
    values = np.array([[-3, 0, 7]], dtype)
    case("Round", values, expected=[values])

# NaN, infinities and zeros.
for op in ("IsNan", "IsInf", "IsFinite"):
    for dtype in FLOATING:
        case(op, np.array(EDGES, np.float64).astype(dtype))
    case(op, np.tile(np.array(EDGES, np.float32), 5).reshape(5, -1))
    case(op, EMPTY)
    case(op, np.float64(np.nan))

# Whole numbers.
for dtype in SIGNED:
    limits = np.iinfo(dtype)
    values = np.array([0, 1, -1, 5, -7, limits.max], dtype)
    for op in ("Abs", "Neg", "Sign"):
        case(op, values)
for dtype in INTEGERS:
    limits = np.iinfo(dtype)
    values = np.array([[0, 1, 5], [limits.max, limits.min, limits.max // 3]], dtype)
    case("Invert", values)
    case("PopulationCount", values)
    case("Square", np.array([0, 1, 2, 11], dtype))
for op in ("Invert", "PopulationCount"):
    case(op, np.zeros((2, 0), np.int32))
    case(op, np.uint8(0b1011))

# Complex numbers and their parts.
CORNERS = np.array([0, 1, -1, 1j, -1j, 3 + 4j, -3 - 4j, 1e-20 + 1e-20j])
for dtype, part in zip(COMPLEX, PRECISE):
    for op in ("Real", "Imag", "Angle", "ComplexAbs"):
        for values in (normal(3, 4, dtype=dtype), CORNERS.astype(dtype), np.zeros((0, 2), dtype), dtype(2 - 1j)):
            case(op, values, Tout=part)
    for values in (normal(3, 4, dtype=dtype), CORNERS.astype(dtype), np.zeros((0, 2), dtype), dtype(2 - 1j)):
        case("Conj", values)
    for op in ("Sign", "Sqrt", "Exp", "Log1p", "Expm1", "Square", "Neg"):
        case(op, CORNERS[CORNERS != -1].astype(dtype) if op == "Log1p" else CORNERS.astype(dtype))
    small = (1e-6 * normal(5, dtype=np.complex128)).astype(dtype)
    case("Expm1", small, tolerance=1e-9, expected=[(small.astype(np.complex128) + small.astype(np.complex128) ** 2 / 2).astype(dtype)])

case("LogicalNot", np.array([True, False]))
case("LogicalNot", np.array([[True], [False], [False]]))
case("LogicalNot", np.zeros((0,), bool))
case("LogicalNot", np.bool_(True))
case("LogicalNot", np.zeros((2, 3), bool))
case("LogicalNot", np.arange(MANY) % 3 == 0)

# Every type to every other; fractions are cut off, numbers other than zero are true.
CASTABLE = FLOATING + COMPLEX + INTEGERS + (np.bool_,)
for source, target in itertools.product(CASTABLE, CASTABLE):
    values = np.array([0, 1, 2.75, 100, 7.25])
    if np.dtype(source).kind not in "ub":
        values = np.append(values, [-1.5, -100]) if np.dtype(target).kind not in "ub" else values
    case("Cast", values.astype(source), DstT=target)
case("Cast", np.array([300, -1, 65536 + 7], np.int32), DstT=np.uint8)
case("Cast", np.array([np.nan, np.inf, 1e-30], np.float32), DstT=np.bool_)
case("Cast", np.array([np.nan, np.inf, 70000, 1e-9], np.float32), DstT=np.float16)
case("Cast", EMPTY, DstT=np.int32)
case("Cast", np.float32(3.9), DstT=np.int64)

# The gradients of outputs, which training graphs contain.
for op in ("SigmoidGrad", "TanhGrad", "SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad"):
    for dtype in FLOATING + COMPLEX:
        case(op, between(0.2, 2, dtype, 3, 4), normal(3, 4, dtype=dtype))
    for dtype in PRECISE:
        case(op, between(-2, -0.2, dtype, MANY), between(-1, 1, dtype, MANY))
        case(op, np.array([0, np.inf, 0, 1, np.nan], dtype), np.array([0, 0, 1, np.inf, 2], dtype))
    case(op, EMPTY, EMPTY)
    case(op, np.float32(0.5), np.float32(-3))
    case(op, np.ones((2, 1), np.float32), np.full((2, 1), 2, np.float32))
