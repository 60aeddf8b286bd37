"""Variables and what changes them."""

import numpy as np

from golden import Ref, bfloat16, case, normal, uniform

i32 = np.int32

for value in (normal(2, 3), normal(4, dtype=np.float64), np.float32(3), uniform(-9, 9, 5, dtype=i32),
              np.array([True, False]), np.zeros((0, 3), np.float32), normal(3, dtype=np.complex64),
              np.array([b"a", b"\x00\xff"])):
    case("Assign", Ref(np.zeros_like(value)), value)
case("Assign", Ref(normal(3)), normal(3), use_locking=False)
case("Assign", Ref(normal(3)), normal(2, 2), refused=True)

for op in ("AssignAdd", "AssignSub"):
    for dtype in (np.float16, bfloat16, np.float32, np.float64, np.complex64):
        case(op, Ref(normal(2, 3, dtype=np.float64).astype(dtype)), normal(2, 3).astype(dtype))
    for dtype in (np.uint8, np.int8, np.int16, i32, np.int64):
        case(op, Ref(uniform(100, 120, 4, dtype=dtype)), uniform(100, 120, 4, dtype=dtype))
    case(op, Ref(np.float32(1)), np.float32(2), use_locking=True)
    case(op, Ref(np.zeros((2, 0), np.float32)), np.zeros((2, 0), np.float32))
    case(op, Ref(normal(2, 3)), normal(3, 2), refused=True)

for dtype in (np.float16, bfloat16, np.float32, np.float64, np.complex64):
    case("ApplyGradientDescent", Ref(normal(2, 3).astype(dtype)), dtype(0.5), normal(2, 3).astype(dtype))
case("ApplyGradientDescent", Ref(np.zeros(0, np.float32)), np.float32(1), np.zeros(0, np.float32))
case("ApplyGradientDescent", Ref(normal(3)), np.float32(1), np.array([np.inf, np.nan, 0], np.float32))
case("ApplyGradientDescent", Ref(normal(3)), normal(1), normal(3), refused=True)
case("ApplyGradientDescent", Ref(normal(3)), np.float32(1), normal(4), refused=True)

for value in (normal(2), np.int32(1), np.zeros(0, np.float64), np.array([True]), np.array([b"x"]),
              normal(1, dtype=np.complex64)):
    case("IsVariableInitialized", Ref(value))
