"""Variables and their updates."""

import numpy as np

from golden import Handle, Ref, bfloat16, case, normal, uniform, v1

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

NUMBERS = (np.float16, bfloat16, np.float32, np.float64, np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64, np.complex64)
ORDERED = (np.float16, bfloat16, np.float32, np.float64, np.int32, np.int64)
SCATTERS = {"ScatterAdd": NUMBERS, "ScatterSub": NUMBERS, "ScatterMul": NUMBERS, "ScatterDiv": NUMBERS, "ScatterMin": ORDERED,
            "ScatterMax": ORDERED, "ScatterUpdate": NUMBERS}


def numbers(dtype, *dims):
    whole = np.dtype(dtype).kind in "iu"
    return uniform(1, 12, *dims, dtype=dtype) if whole else normal(*dims, dtype=np.complex64 if np.dtype(dtype).kind == "c" else np.float32).astype(dtype)


for op, dtypes in SCATTERS.items():
    for dtype in dtypes:
        case(op, Ref(numbers(dtype, 4, 3)), np.array([2, 0], i32), numbers(dtype, 2, 3))
    for index in (np.int32, np.int64):
        case(op, Ref(normal(3, 2, 2)), np.array([[1, 0], [2, 1]], index), normal(2, 2, 2, 2))
        case(op, Ref(normal(5)), np.array([4, 4, 4, 0], index), normal(4))
        case(op, Ref(normal(5, 2)), index(3), normal(2))
    case(op, Ref(normal(5, 2)), np.array([1, 3], i32), np.float32(2))
    case(op, Ref(normal(5)), i32(1), np.float32(3))
    case(op, Ref(normal(5, 2)), np.zeros((0,), i32), np.zeros((0, 2), np.float32))
    case(op, Ref(np.zeros((2, 0), np.float32)), np.array([1], i32), np.zeros((1, 0), np.float32))
    case(op, Ref(normal(4, 30)), np.array([3, 3, 1, 0, 3], i32), normal(5, 30), use_locking=False)
    case(op, Ref(normal(5)), np.array([5], i32), normal(1), refused=True)
    case(op, Ref(normal(5)), np.array([-1], i32), normal(1), refused=True)
case("ScatterUpdate", Ref(np.array([b"a", b"b", b"c"])), np.array([2, 0], i32), np.array([b"x", b"y"]))
case("ScatterUpdate", Ref(np.array([True, False])), np.array([1], i32), np.array([True]))
case("ScatterAdd", Ref(np.array([127, -128], np.int8)), np.array([0, 1], i32), np.array([1, -1], np.int8))

for op in ("ScatterNdUpdate", "ScatterNdAdd", "ScatterNdSub"):
    for dtype in NUMBERS:
        case(op, Ref(numbers(dtype, 4, 3)), np.array([[2], [0]], i32), numbers(dtype, 2, 3))
    for index in (np.int32, np.int64):
        case(op, Ref(normal(3, 2, 2)), np.array([[1, 0], [2, 1]], index), normal(2, 2))
        case(op, Ref(normal(3, 2, 2)), np.array([[[1, 0, 1], [2, 1, 1]], [[0, 0, 0], [1, 1, 0]]], index), normal(2, 2))
        case(op, Ref(normal(5)), np.array([[4], [4], [0]], index), normal(3))
    case(op, Ref(normal(5, 2)), np.zeros((0, 1), i32), np.zeros((0, 2), np.float32))
    case(op, Ref(normal(4, 3)), np.array([[2], [9]], i32), normal(2, 3), refused=True)
    case(op, Ref(normal(4, 3)), np.array([[2, -1]], i32), normal(1), refused=True)
case("ScatterNdUpdate", Ref(np.array([b"a", b"b", b"c"])), np.array([[2], [0]], i32), np.array([b"x", b"y"]))

for dtype in (np.int32, np.int64):
    for value, limit in ((3, 4), (-2, 0), (100, 2**31 - 1)):
        case("CountUpTo", Ref(dtype(value)), limit=limit)
    case("CountUpTo", Ref(dtype(4)), limit=4, refused=True)
    case("CountUpTo", Ref(dtype(9)), limit=4, refused=True)

for op in ("ScatterNdMax", "ScatterNdMin"):
    for dtype in ORDERED:
        case(op, Ref(numbers(dtype, 4, 3)), np.array([[2], [0]], i32), numbers(dtype, 2, 3))
    case(op, Ref(normal(3, 2, 2)), np.array([[1, 0], [2, 1]], np.int64), normal(2, 2))
    case(op, Ref(normal(5)), np.array([[4], [4], [0]], i32), normal(3))
    case(op, Ref(normal(4, 3)), np.array([[2], [9]], i32), normal(2, 3), refused=True)

# Variables given by handles.

for value in (normal(2, 3), normal(4, dtype=np.float64), np.float32(3), uniform(-9, 9, 5, dtype=i32),
              np.array([True, False]), np.zeros((0, 3), np.float32), normal(3, dtype=np.complex64),
              np.array([b"a", b"\x00\xff"])):
    case("AssignVariableOp", Handle(np.zeros_like(value)), value)
    dtype = v1.as_dtype(value.dtype)
    case("ReadVariableOp", Handle(value), dtype=dtype)
    case("VarIsInitializedOp", Handle(value))
    for out_type in (np.int32, np.int64):
        case("VariableShape", Handle(value), out_type=v1.as_dtype(out_type))

for op in ("AssignAddVariableOp", "AssignSubVariableOp"):
    for dtype in (np.float16, bfloat16, np.float32, np.float64, np.complex64):
        case(op, Handle(normal(2, 3, dtype=np.float64).astype(dtype)), normal(2, 3).astype(dtype))
    for dtype in (np.uint8, np.int8, np.int16, i32, np.int64):
        case(op, Handle(uniform(100, 120, 4, dtype=dtype)), uniform(100, 120, 4, dtype=dtype))
    case(op, Handle(np.zeros((2, 0), np.float32)), np.zeros((2, 0), np.float32))
    case(op, Handle(normal(2, 3)), normal(3, 2), refused=True)

for op, dtypes in SCATTERS.items():
    op = "Resource" + op
    for dtype in dtypes:
        case(op, Handle(numbers(dtype, 4, 3)), np.array([2, 0], i32), numbers(dtype, 2, 3))
    for index in (np.int32, np.int64):
        case(op, Handle(normal(3, 2, 2)), np.array([[1, 0], [2, 1]], index), normal(2, 2, 2, 2))
        case(op, Handle(normal(5)), np.array([4, 4, 4, 0], index), normal(4))
        case(op, Handle(normal(5, 2)), index(3), normal(2))
    case(op, Handle(normal(5, 2)), np.array([1, 3], i32), np.float32(2))
    case(op, Handle(normal(5, 2)), np.zeros((0,), i32), np.zeros((0, 2), np.float32))
    case(op, Handle(normal(5)), np.array([5], i32), normal(1), refused=True)
    case(op, Handle(normal(5)), np.array([-1], i32), normal(1), refused=True)

for op in ("Update", "Add", "Sub", "Max", "Min"):
    dtypes = ORDERED if op in ("Max", "Min") else NUMBERS
    op = "ResourceScatterNd" + op
    for dtype in dtypes:
        case(op, Handle(numbers(dtype, 4, 3)), np.array([[2], [0]], i32), numbers(dtype, 2, 3))
    for index in (np.int32, np.int64):
        case(op, Handle(normal(3, 2, 2)), np.array([[1, 0], [2, 1]], index), normal(2, 2))
        case(op, Handle(normal(5)), np.array([[4], [4], [0]], index), normal(3))
    case(op, Handle(normal(4, 3)), np.array([[2], [9]], i32), normal(2, 3), refused=True)

for dtype in (np.int32, np.int64):
    for value, limit in ((3, 4), (-2, 0), (100, 2**31 - 1)):
        case("ResourceCountUpTo", Handle(dtype(value)), T=v1.as_dtype(dtype), limit=limit)
    case("ResourceCountUpTo", Handle(dtype(9)), T=v1.as_dtype(dtype), limit=4, refused=True)

for index in (np.int32, np.int64):
    for value in (normal(5, 3), uniform(-9, 9, 5, 3, dtype=i32), normal(5, 3, dtype=np.complex64)):
        dtype = v1.as_dtype(value.dtype)
        case("ResourceGather", Handle(value), np.array([4, 0, 4], index), dtype=dtype)
        case("ResourceGather", Handle(value), np.array([[1], [0]], index), dtype=dtype)
        case("ResourceGather", Handle(value), index(2), dtype=dtype)
        case("ResourceGatherNd", Handle(value), np.array([[4, 0], [0, 2]], index), dtype=dtype)
        case("ResourceGatherNd", Handle(value), np.array([[[4], [0]], [[1], [1]]], index), dtype=dtype)
    case("ResourceGather", Handle(normal(2, 4, 3)), np.array([[3, 1, 1], [0, 0, 2]], index), dtype=v1.float32, batch_dims=1)
    case("ResourceGather", Handle(normal(2, 2, 3)), np.array([[2, 1], [0, 0]], index), dtype=v1.float32, batch_dims=2)
    case("ResourceGather", Handle(normal(5)), np.array([5], index), dtype=v1.float32, refused=True)
    case("ResourceGatherNd", Handle(normal(5, 2)), np.array([[0, 2]], index), dtype=v1.float32, refused=True)

for op, kind in (("StridedSliceAssign", Ref), ("ResourceStridedSliceAssign", Handle)):
    for index in (np.int32, np.int64):
        def bounds(*values):
            return [np.array(each, index) for each in values]

        case(op, kind(normal(4, 5)), *bounds([1, 0], [3, 4], [1, 2]), normal(2, 2))
        case(op, kind(normal(4, 5)), *bounds([0, 3], [0, 0], [1, -2]), normal(4, 2), begin_mask=1, end_mask=1)
        case(op, kind(normal(4, 5, 2)), *bounds([0, 1], [0, 0], [1, 1]), normal(4, 5), ellipsis_mask=1, shrink_axis_mask=2)
        case(op, kind(uniform(0, 99, 6, dtype=i32)), *bounds([5], [0], [-1]), uniform(0, 99, 5, dtype=i32))
        case(op, kind(normal(4)), *bounds([2], [3], [1]), np.float32(7), shrink_axis_mask=1)
        case(op, kind(normal(4)), *bounds([1], [1], [1]), np.zeros(0, np.float32))
    case(op, kind(normal(4)), *bounds([0], [3], [1]), normal(2), refused=True)
