"""Ops that take, put, find and sort elements by index, and numbers of few bits."""

import numpy as np
import tensorflow as tf

from golden import bfloat16, case, ints, some, uniform

FLOATING = (np.float16, bfloat16, np.float32, np.float64)
WHOLE = (np.uint8, np.uint16, np.int8, np.int16, np.int32, np.int64)
SIZES = (np.uint8, np.int16, np.float32, np.int64, np.complex128)  # one type of each size
ANY = SIZES + (bool, str)

# Taking.
for dtype in ANY:
    case("Gather", some(dtype, 4, 2), ints(3, 0, 3))
    case("GatherV2", some(dtype, 2, 4), ints(3, 0, 3), np.int32(1))
    case("GatherNd", some(dtype, 3, 4), ints([2, 1], [0, 3]))
x = some(np.float32, 3, 4, 5)
case("Gather", x, np.int64(1))
case("Gather", x, np.zeros((0, 2), np.int32))
case("Gather", some(np.float32, 3), ints([2], [0]))
for bad in (3, -1):
    case("Gather", x, ints(0, bad), refused=True)
    case("GatherV2", x, ints(0, bad), np.int32(0), refused=True)
    case("GatherNd", x, ints([0], [bad]), refused=True)
for axis in (0, 1, 2, -1, -2):
    case("GatherV2", x, ints([2, 0], [1, 1], dtype=np.int64), np.int64(axis))
case("GatherV2", x, ints([0, 3], [1, 1], [2, 0]), np.int32(1), batch_dims=1)
case("GatherV2", x, ints([0, 3], [1, 1], [2, 0]), np.int32(2), batch_dims=1)
case("GatherV2", x, ints(0, 1, 2), np.int32(1), batch_dims=0)
case("GatherV2", some(np.float32, 2, 3, 4), ints([[0, 3]] * 3, [[1, 2]] * 3), np.int32(2), batch_dims=2)
case("GatherV2", some(np.float32, 2, 3), ints([0, 2], [1, 1]), np.int32(1), batch_dims=-1)
case("GatherV2", np.zeros((0, 3), np.float32), ints(2, 0), np.int32(1))
case("GatherV2", some(np.float32, 2, 3), ints([0, 2]), np.int32(1), batch_dims=1, refused=True)
case("GatherNd", x, ints([[0], [2]], [[1], [1]], dtype=np.int64))
case("GatherNd", x, ints([1, 2, 3], dtype=np.int64)[0])
case("GatherNd", x, np.zeros((2, 0), np.int32))
case("GatherNd", x, np.zeros((0, 2), np.int32))
case("GatherNd", x, ints([0, 0, 0, 0]), refused=True)

# Putting.
TO, AT = 5, ints([3], [0], [3])
for dtype in FLOATING + WHOLE + (np.complex64, str, bool):
    case("ScatterNd", AT, some(dtype, 3, 2), ints(TO, 2))
    if dtype is not bool:
        case("TensorScatterUpdate", some(dtype, TO, 2), ints([3], [0], [1]), some(dtype, 3, 2))
    if dtype not in (bool, str):
        for name in ("Add", "Sub"):
            case(f"TensorScatter{name}", some(dtype, TO, 2), AT, some(dtype, 3, 2))
    if dtype not in (bool, str, np.complex64):
        for name in ("Min", "Max"):
            case(f"TensorScatter{name}", some(dtype, TO, 2), AT, some(dtype, 3, 2))
for name in ("Update", "Add", "Sub", "Min", "Max"):
    case(f"TensorScatter{name}", x, ints([0, 1], [2, 3], dtype=np.int64), some(np.float32, 2, 5))
    case(f"TensorScatter{name}", x, ints([[0, 1, 4]], [[2, 3, 0]]), some(np.float32, 2, 1))
    case(f"TensorScatter{name}", x, np.zeros((0, 1), np.int32), np.zeros((0, 4, 5), np.float32))
    case(f"TensorScatter{name}", x, ints([3]), some(np.float32, 1, 4, 5), refused=True)
    case(f"TensorScatter{name}", x, ints([-1, 0]), some(np.float32, 1, 5), refused=True)
case("ScatterNd", ints([0, 1], [2, 2], dtype=np.int64), some(np.float32, 2), ints(3, 3, dtype=np.int64))
case("ScatterNd", np.zeros((0, 1), np.int32), np.zeros((0, 2), np.float32), ints(3, 2))
case("ScatterNd", ints([[1], [0]], [[1], [1]]), some(np.float32, 2, 2, 3), ints(2, 3))
case("ScatterNd", ints([2]), some(np.float32, 1), ints(2), refused=True)

for dtype in ANY + (np.float64,):
    case("DynamicPartition", some(dtype, 4, 2), ints(1, 0, 1, 2), num_partitions=3)
    case("DynamicStitch", [ints(1), ints([2, 0])], [some(dtype, 1, 2), some(dtype, 1, 2, 2)])
    case("ParallelDynamicStitch", [ints(1), ints([2, 0])], [some(dtype, 1, 2), some(dtype, 1, 2, 2)])
case("DynamicPartition", some(np.float32, 2, 2, 3), ints([1, 0], [1, 1]), num_partitions=2)
case("DynamicPartition", some(np.float32, 3), ints(0, 0, 0), num_partitions=1)
case("DynamicPartition", np.zeros((0, 2), np.float32), ints(), num_partitions=2)
case("DynamicPartition", np.float32(4), np.int32(1), num_partitions=2)
for bad in (2, -1):
    case("DynamicPartition", some(np.float32, 2), ints(0, bad), num_partitions=2, refused=True)
case("DynamicStitch", [ints(0, 1), np.int32(1)], [some(np.float32, 2, 3), some(np.float32, 3)])
case("DynamicStitch", [ints(2, 1, 0)], [some(np.float32, 3)])
case("DynamicStitch", [ints()], [np.zeros((0, 2), np.float32)])
case("DynamicStitch", [ints(-1)], [some(np.float32, 1)], refused=True)
case("ParallelDynamicStitch", [ints(2, 1, 0)], [some(np.float32, 3)])

# Choosing.
condition = np.array([[True, False, True], [False, False, True]])
for dtype in ANY:
    case("Select", condition, some(dtype, 2, 3), some(dtype, 2, 3))
    case("SelectV2", condition, some(dtype, 2, 3), some(dtype, 3))
for chosen in (True, False):
    case("Select", np.array(chosen), some(np.float32, 2, 3), some(np.float32, 2, 3))
    case("SelectV2", np.array(chosen), some(np.float32, 2, 1), some(np.float32, 3))
case("Select", condition[0, :2], some(np.float32, 2, 3), some(np.float32, 2, 3))
case("Select", np.zeros((0,), bool), np.zeros((0,), np.float32), np.zeros((0,), np.float32))
case("Select", condition[0], some(np.float32, 2, 3), some(np.float32, 2, 3), refused=True)
case("SelectV2", condition, np.float32(1), np.float32(0))
case("SelectV2", condition[:, :1], some(np.float32, 4, 1, 3), some(np.float32, 2, 3))
case("SelectV2", condition, np.float64(3), some(np.float64, 2, 3))
case("SelectV2", np.zeros((0, 1), bool), some(np.float32, 3), np.float32(0))
case("SelectV2", condition, some(np.float32, 2), np.float32(0), refused=True)
for dtype in FLOATING + WHOLE + (bool, np.complex64, np.complex128):
    values = (uniform(0, 3, 3, 4, dtype=np.int32) * 0.5).astype(dtype)
    case("Where", values, expected=[np.argwhere(values)])
case("Where", np.array([0.0, -0.0, np.nan, np.inf, -1], np.float32))
case("Where", np.array(True), expected=[np.zeros((1, 0), np.int64)])
case("Where", np.zeros((2, 0, 3), bool))
case("Where", uniform(0, 2, 2, 2, 2, 3, dtype=np.int32) == 1)
for dtype in (np.uint8, np.int32, np.int64):
    for axis in (-1, 0, 1):
        case("OneHot", np.array([[0, 2], [1, 3]], dtype), np.int32(3), np.float32(5), np.float32(-1), axis=axis)
for dtype in ANY:
    case("OneHot", ints(0, 5, 1), np.int32(2), some(dtype, 1)[0], some(dtype, 2)[1])
case("OneHot", np.int64(1), np.int32(3), np.float32(1), np.float32(0))
case("OneHot", ints(0, 1), np.int32(0), np.float32(1), np.float32(0))
case("OneHot", ints(0), np.int32(-1), np.float32(1), np.float32(0), refused=True)

# Finding.
for dtype in FLOATING + WHOLE + (bool, str):
    values = some(dtype, 4)[uniform(0, 4, 9, dtype=np.int64)]
    case("Unique", values)
    case("UniqueWithCounts", values)
    if dtype not in (str, bool):
        case("ListDiff", values, values[:2])
    rows = np.stack([values[:3], values[1:4], values[:3]])
    case("UniqueV2", rows, ints(0, dtype=np.int64))
    case("UniqueWithCountsV2", rows, ints(0, dtype=np.int64))
for op in ("Unique", "UniqueWithCounts"):
    case(op, ints(3, 3, 1), out_idx=np.int64)
    case(op, np.zeros(0, np.float32))
    case(op, np.array([0.0, -0.0, 1.0], np.float32))
    case(op, ints([1, 2]), refused=True)
case("UniqueV2", ints([1, 0, 1], [2, 0, 2]), ints(1), out_idx=np.int64)
case("UniqueV2", ints([[1, 2], [1, 2]], [[3, 4], [3, 4]]), ints(1))
case("UniqueV2", ints(5, 5, 2), np.zeros(0, np.int64))
case("UniqueV2", ints(5, 5, 2), ints(0, 0), refused=True)
case("UniqueWithCountsV2", ints(5, 5, 2), np.zeros(0, np.int64), out_idx=np.int64)
case("UniqueWithCountsV2", ints([1, 0, 1], [2, 0, 2]), ints(1))
case("ListDiff", ints(1, 2, 3, 2), ints(2, 9), out_idx=np.int64)
case("ListDiff", ints(1, 2), ints())
case("ListDiff", ints(), ints(1))
case("ListDiff", np.array(["a", "b"], object), np.array(["b"], object))
for dtype in FLOATING + WHOLE:
    row = np.sort(some(dtype, 2, 6), axis=1)
    wanted = np.concatenate([row[:, 1:3], some(dtype, 2, 3)], axis=1)
    for op in ("LowerBound", "UpperBound"):
        case(op, row, wanted)
for op in ("LowerBound", "UpperBound"):
    case(op, ints([1, 2, 2, 2, 5]), ints([2, 0, 9, 5]), out_type=np.int64)
    case(op, np.zeros((2, 0), np.float32), some(np.float32, 2, 2))
    case(op, ints([1], [2]), ints([1]), refused=True)
for dtype in FLOATING + WHOLE + (np.uint32, np.uint64):
    values = some(dtype, 2, 3, 7)
    case("TopKV2", values, np.int32(3))
case("TopKV2", -some(np.int32, 9), np.int64(4), index_type=np.int64)
case("TopKV2", ints(1, 3, 3, 2, 3), np.int32(4))
case("TopKV2", some(np.float32, 2, 3), np.int32(0))
case("TopKV2", some(np.float32, 2, 1), np.int32(1), sorted=False)
case("TopKV2", some(np.float32, 2, 3), np.int32(4), refused=True)
case("TopKV2", np.array([-np.inf, 2, np.inf, 0, -0.0], np.float32), np.int32(5))
case("TopKV2", np.zeros((0, 3), np.float32), np.int32(2))


def sequences(rows, dtype):
    """Rows of different lengths as a sparse tensor."""
    indices = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    values = [value for row in rows for value in row]
    shape = [len(rows), max([len(row) for row in rows] + [1])]
    return np.array(indices, np.int64).reshape(-1, 2), np.array(values, dtype), np.array(shape, np.int64)


for dtype, said, meant in (
    (object, ["kitten", "sunday", "", "a", "same"], ["sitting", "saturday", "", "", "same"]),
    (np.int32, [[1, 2, 3], [], [4]], [[2, 3, 1, 1], [5, 5], [4, 4]]),
    (np.float32, [[1, 2]], [[1, 2], [3]]),
    (np.int64, [[], [7]], [[], [8]]),
):
    for normalize in (True, False):
        case("EditDistance", *sequences(said, dtype), *sequences(meant, dtype), normalize=normalize)
case("EditDistance", ints([0, 0, 2], [1, 1, 0], dtype=np.int64), ints(1, 2), ints(2, 2, 3, dtype=np.int64),
     ints([1, 1, 0], dtype=np.int64), ints(2), ints(2, 2, 1, dtype=np.int64))

# Numbers of few bits.
values = np.array([-3, -1.27, -0.4, 0, 0.013, 0.77, 1.5, 9], np.float32)
for dtype in (tf.quint8, tf.qint8, tf.quint16, tf.qint16):
    for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
        for least, most in ((-1.5, 2.0), (0.5, 1.0)):
            case("QuantizeV2", values, np.float32(least), np.float32(most), T=dtype, mode=mode)
for narrow_range in (False, True):
    for round_mode in ("HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN"):
        case("QuantizeV2", np.array([[-1, 0.5, 2.5], [0.1, 7, 1.5]], np.float32), np.array([-1, -2], np.float32),
             np.array([127, 3], np.float32), T=tf.qint8, mode="SCALED", narrow_range=narrow_range,
             round_mode=round_mode, axis=0)
case("QuantizeV2", np.zeros((0,), np.float32), np.float32(0), np.float32(1), T=tf.quint8)
case("QuantizeV2", np.ones((2,), np.float32), np.float32(1), np.float32(0), T=tf.quint8, refused=True)
for dtype in (tf.quint8, tf.qint8, tf.quint16, tf.qint16, tf.qint32):
    # The plain numbers; NumPy has a quantized type as a record of one field.
    plain = np.array([0, 1, 50, 127, 100, 7], np.int32 if dtype == tf.qint32 else dtype.as_numpy_dtype[0])
    values = plain.astype(dtype.as_numpy_dtype)
    for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
        case("Dequantize", values, np.float32(-1.5), np.float32(2.5), mode=mode, tolerance=1e-4)
    case("Dequantize", values, np.float32(0), np.float32(6), dtype=bfloat16)
    case("Dequantize", values.reshape(2, 3), np.array([-1, 0, -2], np.float32), np.array([1, 2, 2], np.float32),
         mode="SCALED", narrow_range=True, axis=1)
case("Dequantize", np.zeros((0,), tf.qint8.as_numpy_dtype), np.float32(0), np.float32(1))
values = uniform(-8, 8, 3, 5)
for least, most in ((-6, 6), (0, 3), (-0.1, 7.3), (-5, 0)):
    for bits, narrow_range in ((8, False), (4, True)):
        attrs = dict(num_bits=bits, narrow_range=narrow_range)
        ends = np.float32(least), np.float32(most)
        case("FakeQuantWithMinMaxArgs", values, min=least, max=most, **attrs)
        case("FakeQuantWithMinMaxArgsGradient", some(np.float32, 3, 5), values, min=least, max=most, **attrs)
        case("FakeQuantWithMinMaxVars", values, *ends, **attrs)
        case("FakeQuantWithMinMaxVarsGradient", some(np.float32, 3, 5), values, *ends, **attrs)
case("FakeQuantWithMinMaxArgs", np.zeros((0,), np.float32), num_bits=16)
case("FakeQuantWithMinMaxVars", values, np.float32(0), np.float32(0))
case("FakeQuantWithMinMaxVarsGradient", some(np.float32, 3, 5), values, np.float32(0), np.float32(0))
