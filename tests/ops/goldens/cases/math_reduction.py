"""Reductions, running sums and products, positions of extremes, and sequences of numbers."""

import numpy as np

from golden import bfloat16, case, normal, uniform

FLOATING = (np.float16, bfloat16, np.float32, np.float64)
WHOLE = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)
COMPLEX = (np.complex64, np.complex128)


def whole(*dims, dtype=np.int32, high=6):
    return uniform(0 if np.dtype(dtype).kind == "u" else -high, high, *dims, dtype=dtype)


def axes(*named, dtype=np.int32):
    return np.array(named, dtype)


for op in ("Sum", "Mean", "Prod", "Max", "Min", "EuclideanNorm"):
    for dtype in FLOATING:
        case(op, normal(3, 5).astype(dtype), axes(1), keep_dims=False)
    for dtype in COMPLEX if op in ("Sum", "Mean", "Prod") else ():
        case(op, normal(3, 4, dtype=dtype), axes(0), keep_dims=True)
    for dtype in WHOLE if op != "EuclideanNorm" else (np.int32, np.int64):
        if op == "Mean" or dtype not in (np.uint32, np.uint64) or op in ("Max", "Min"):
            case(op, whole(4, 3, dtype=dtype), axes(0), keep_dims=False)
    case(op, normal(2, 3, 4), axes(-1, 0), keep_dims=True)
    case(op, normal(2, 3, 4), axes(1, dtype=np.int64), keep_dims=False)
    case(op, normal(2, 3, 4), axes(0, 1, 2), keep_dims=False)
    case(op, normal(2, 3), axes(), keep_dims=False)
    case(op, normal(5, 1), axes(1), keep_dims=False)
    case(op, normal(), axes(), keep_dims=False)
    case(op, normal(3, 2), np.int32(-2), keep_dims=False)
    if op != "Mean":
        case(op, np.zeros((2, 0), np.float32), axes(1), keep_dims=False)
    case(op, np.zeros((0, 3), np.float32), axes(1), keep_dims=True)
case("Sum", normal(7, 40), axes(1), keep_dims=False)
case("Sum", normal(40, 7), axes(0), keep_dims=False)
case("Max", np.array([[np.inf, 1], [-np.inf, 2]], np.float32), axes(0), keep_dims=False)

for op in ("All", "Any"):
    truths = np.array([[True, True, False], [True, True, True], [False, False, False]])
    for named in (axes(0), axes(1), axes(-1), axes(0, 1), axes(), axes(1, dtype=np.int64)):
        for keep in (False, True):
            case(op, truths, named, keep_dims=keep)
    case(op, np.zeros((0, 3), bool), axes(0), keep_dims=False)
    case(op, np.array(True), axes(), keep_dims=False)

for op in ("Cumsum", "Cumprod"):
    for exclusive in (False, True):
        for reverse in (False, True):
            for axis in (0, 1, -1):
                case(op, normal(2, 3, 4), np.int32(axis), exclusive=exclusive, reverse=reverse)
    for dtype in FLOATING + COMPLEX:
        # TensorFlow rounds halves after each step.
        tolerance = 0.03 if dtype in (np.float16, bfloat16) else None
        case(op, normal(5, 2).astype(dtype), np.int64(0), tolerance=tolerance, exclusive=False, reverse=False)
    for dtype in WHOLE:
        case(op, whole(4, 2, dtype=dtype, high=4), np.int32(0), exclusive=False, reverse=True)
    case(op, np.zeros((0, 2), np.float32), np.int32(0), exclusive=True, reverse=False)
    case(op, normal(1), np.int32(0), exclusive=True, reverse=True)
    case(op, normal(3), np.int32(1), refused=True, exclusive=False, reverse=False)

for op in ("ArgMax", "ArgMin"):
    for dtype in FLOATING + WHOLE:
        values = whole(3, 4, dtype=dtype) if dtype in WHOLE else normal(3, 4).astype(dtype)
        case(op, values, np.int32(1), output_type=np.int64)
    for axis in (0, 1, 2, -1, -3):
        case(op, normal(2, 3, 4), np.int32(axis), output_type=np.int32)
    case(op, np.array([False, True, True, False]), np.int64(0), output_type=np.int64)
    case(op, np.array([2, 1, 1, 2], np.float32), np.int32(0), output_type=np.int64)
    case(op, np.zeros((2, 0, 3), np.float32), np.int32(0), output_type=np.int64)
    case(op, np.zeros((2, 0), np.float32), np.int32(1), refused=True, output_type=np.int64)

for dtype in (np.int8, np.int16, np.int32, np.int64, np.uint16, np.uint32, np.uint64):
    case("Range", dtype(3), dtype(18), dtype(4), expected=[np.arange(3, 18, 4, dtype)])
for dtype in (bfloat16, np.float32, np.float64):
    case("Range", np.array(0.5, dtype), np.array(3, dtype), np.array(0.5, dtype))
for dtype in (np.float32, np.int32, np.int64):
    case("Range", dtype(10), dtype(1), dtype(-3))
    case("Range", dtype(5), dtype(5), dtype(2))

for dtype in (np.float32, np.float64):
    case("LinSpace", np.array(1, dtype), np.array(3, dtype), np.int32(5))
    case("LinSpace", np.array(2, dtype), np.array(-2, dtype), np.int64(3))
case("LinSpace", np.float32(-1), np.float32(1), np.int32(1))
case("LinSpace", np.float32(0), np.float32(1), np.int32(7))
case("LinSpace", np.float64(5), np.float64(5), np.int32(2))

for dtype in FLOATING + WHOLE:
    values = whole(3, 4, dtype=dtype) if dtype in WHOLE else normal(3, 4).astype(dtype)
    if dtype not in (np.uint64, np.uint32):
        case("ClipByValue", values, np.array(1, dtype), np.array(3, dtype))
case("ClipByValue", normal(2, 3), normal(2, 3) - 1, normal(2, 3) + 1)
case("ClipByValue", normal(2, 3), np.float32(0), normal(2, 3) ** 2)
case("ClipByValue", normal(2, 3), -normal(2, 3) ** 2, np.float32(0.5))
case("ClipByValue", np.zeros((0, 3), np.float32), np.float32(0), np.float32(1))
case("ClipByValue", np.array([-np.inf, np.inf], np.float32), np.float32(0), np.float32(1))
case("ClipByValue", normal(2, 3), np.zeros(3, np.float32), np.float32(1), refused=True)
case("ClipByValue", normal(), np.float32(-0.1), np.float32(0.1))

BOUNDARIES = [0.0, 1.5, 1.5, 10.0]
for dtype in (np.int32, np.int64, np.float32, np.float64):
    case("Bucketize", np.array([[-1, 0, 1], [2, 10, 11]], dtype), boundaries=BOUNDARIES)
    case("Bucketize", np.zeros((0,), dtype), boundaries=BOUNDARIES)
case("Bucketize", np.float32([1.5, np.inf, -np.inf]), boundaries=BOUNDARIES)
case("Bucketize", np.float32(3), boundaries=[])
case("Bucketize", np.float32([3]), refused=True, boundaries=[1.0, 0.0])

for dtype in (np.int32, np.int64, np.float32, np.float64):
    arr = np.array([[1, 0, 3], [3, 1, 9]], np.int32)
    case("Bincount", arr, np.int32(5), np.zeros((0,), dtype))
    case("Bincount", arr, np.int32(5), uniform(1, 5, 2, 3, dtype=dtype))
    case("Bincount", np.zeros((0,), np.int32), np.int32(2), np.zeros((0,), dtype))
case("Bincount", arr, np.int32(0), np.zeros((0,), np.int32))
case("Bincount", np.int32([1, -1]), np.int32(2), np.zeros((0,), np.int32), refused=True)

for dtype in (np.int32, np.int64, np.float32, np.float64):
    values = np.array([[-1, 0, 1], [4, 5, 15]], dtype)
    for out in (np.int32, np.int64):
        case("HistogramFixedWidth", values, np.array([0, 5], dtype), np.int32(5), dtype=out)
case("HistogramFixedWidth", normal(50), np.float32([-1, 1]), np.int32(7), dtype=np.int32)
case("HistogramFixedWidth", np.zeros((0,), np.float32), np.float32([0, 1]), np.int32(2), dtype=np.int32)
case("HistogramFixedWidth", normal(5), np.float32([1, 1]), np.int32(2), refused=True, dtype=np.int32)

ROWS = np.array([[1, 0, 3, 1], [3, 1, 9, 3], [0, 0, 0, 4]])
for index in (np.int32, np.int64):
    for dtype in (np.int32, np.int64, np.float32, np.float64):
        for numbers in (ROWS.astype(index), ROWS[1].astype(index)):
            none = np.zeros((0,), dtype)
            case("DenseBincount", numbers, index(5), none)
            case("DenseBincount", numbers, index(5), uniform(1, 5, *numbers.shape, dtype=dtype))
            case("DenseBincount", numbers, index(4), none, binary_output=True)
case("DenseBincount", ROWS.astype(np.int32), np.int32(4), uniform(1, 5, 3, 4, dtype=np.float32), binary_output=True)
case("DenseBincount", ROWS.astype(np.int32), np.int32(0), np.zeros((0,), np.int32))
case("DenseBincount", np.zeros((0,), np.int32), np.int32(3), np.zeros((0,), np.float32))
case("DenseBincount", np.zeros((2, 0), np.int64), np.int64(3), np.zeros((0,), np.float32))
case("DenseBincount", np.zeros((0, 2), np.int64), np.int64(3), np.zeros((0,), np.float32))
case("DenseBincount", np.int32([1, -1]), np.int32(2), np.zeros((0,), np.int32), refused=True)
case("DenseBincount", np.int32([[1, -1]]), np.int32(2), np.zeros((0,), np.int32), refused=True)
case("DenseBincount", np.int32([1, 1]), np.int32(-2), np.zeros((0,), np.int32), refused=True)
case("DenseBincount", np.int32([1, 1]), np.int32(2), np.float32([1]), refused=True)
case("DenseBincount", np.int32([[[1]]]), np.int32(2), np.zeros((0,), np.int32), refused=True)

for rows, columns, centers in ((5, 3, 7), (1, 1, 1), (4, 2, 3), (6, 40, 20)):
    for k in (1, 2, 5):
        case("NearestNeighbors", normal(rows, columns), normal(centers, columns), np.int64(k), tolerance=1e-4)
