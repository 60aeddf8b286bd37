"""Softmax and the losses on top of it."""

import numpy as np

from golden import bfloat16, case, normal, uniform

FLOATING = (np.float16, bfloat16, np.float32, np.float64)

for op in ("Softmax", "LogSoftmax"):
    for dtype in FLOATING:
        case(op, normal(3, 5).astype(dtype))
    case(op, np.zeros((0, 4), np.float32))
    case(op, np.array([[1000.0, -1000.0, 0.0]], np.float32))
    case(op, normal(7, 1))
