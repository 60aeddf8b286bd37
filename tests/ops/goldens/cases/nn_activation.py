"""Activations, their gradients."""

import numpy as np

from golden import bfloat16, case, normal, uniform

FLOATING = (np.float16, bfloat16, np.float32, np.float64)
WHOLE = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 100.0, -100.0, 1e-6, -1e-6, 20.0, -20.0], np.float32)
EMPTY = np.zeros((0, 3), np.float32)

activations = ("Relu", "Relu6", "LeakyRelu", "Elu", "Selu", "Softplus", "Softsign")
for op in activations:
    for dtype in FLOATING:
        case(op, (3 * normal(4, 7)).astype(dtype))
    case(op, SPECIAL)
    case(op, SPECIAL.astype(np.float64))
    case(op, EMPTY)
    case(op, np.float32(-1.5))
for op in activations:
    for dtype in FLOATING:
        case(op + "Grad", normal(4, 7).astype(dtype), (3 * normal(4, 7)).astype(dtype))
    if op != "Softsign":  # divides one infinity by another
        case(op + "Grad", np.ones_like(SPECIAL), SPECIAL)
    case(op + "Grad", EMPTY, EMPTY)
    case(op + "Grad", normal(1), normal(1))
    case(op + "Grad", normal(2, 1, 3), normal(2, 1, 3))
for dtype in WHOLE:
    values = uniform(0 if np.dtype(dtype).kind == "u" else -9, 10, 12, dtype=dtype)
    for op in ("Relu", "Relu6"):
        case(op, values)
        case(op + "Grad", np.arange(12).astype(dtype), values)
for alpha in (0.0, 0.1, 1.0, 2.0, -0.5):
    case("LeakyRelu", normal(9), alpha=alpha)
    case("LeakyReluGrad", normal(9), normal(9), alpha=alpha)
