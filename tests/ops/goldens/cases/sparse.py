"""Sparse tensors: indices, values, and the shape that they would have if they were dense."""

import numpy as np

from golden import bfloat16, case, normal, uniform

i32, i64, f32 = np.int32, np.int64, np.float32
NUMBERS = (np.float16, bfloat16, f32, np.float64, np.int8, np.uint8, np.int16, i32, i64, np.uint64)


def numbers(dtype, count):
    if np.dtype(dtype).kind in "iu":
        return uniform(1, 10, count, dtype=dtype)
    return normal(count, dtype=np.complex64 if np.dtype(dtype).kind == "c" else f32).astype(dtype)


def sparse(dims, count, dtype=f32, ordered=True):
    """Indices, values and shape of a tensor with this many stored elements."""
    places = uniform(0, 1, int(np.prod(dims))).argsort()[:count]
    places = np.sort(places) if ordered else places
    indices = np.stack(np.unravel_index(places, dims), 1).astype(i64) if count else np.zeros((0, len(dims)), i64)
    return indices, numbers(dtype, count), np.array(dims, i64)


OUTSIDE = (np.array([[0, 1], [2, 0]], i64), np.array([1, 2], f32), np.array([2, 3], i64))
CASES = [((2, 3), 3), ((4, 1), 2), ((3, 4, 2), 9), ((5,), 3), ((3, 3), 0), ((1, 1), 1)]

for dims, count in CASES:
    case("SparseReorder", *sparse(dims, count, ordered=False))
for dtype in (np.float64, i32, np.complex64, np.float16):
    case("SparseReorder", *sparse((4, 5), 7, dtype, ordered=False))
case("SparseReorder", np.array([[1], [0], [1]], i64), np.array([b"a", b"b", b"c"]), np.array([2], i64))
case("SparseReorder", np.array([[1], [0]], i64), np.array([True, False]), np.array([2], i64))

for dims, count in CASES:
    for index in (i32, i64):
        indices, values, shape = sparse(dims, count)
        case("SparseToDense", indices.astype(index), shape.astype(index), values, f32(-1))
for dtype in NUMBERS + (np.complex64,):
    indices, values, shape = sparse((3, 4), 5, dtype)
    case("SparseToDense", indices, shape, values, numbers(dtype, 1)[0])
case("SparseToDense", np.array([1, 3], i32), np.array([5], i32), np.array([7, 8], f32), f32(0))
case("SparseToDense", np.array([[1], [3]], i32), np.array([5], i32), f32(7), f32(0))
case("SparseToDense", i32(2), np.array([5], i32), f32(7), f32(0))
case("SparseToDense", np.array([3, 1, 3], i32), np.array([5], i32), np.array([7, 8, 9], f32), f32(0), validate_indices=False)
case("SparseToDense", np.array([1], i32), np.array([3], i32), np.array([b"x"]), np.array(b"-"))
case("SparseToDense", np.array([1], i32), np.array([3], i32), np.array([True]), np.array(False))
case("SparseToDense", np.array([3, 1], i32), np.array([5], i32), np.array([7, 8], f32), f32(0), refused=True)
case("SparseToDense", np.array([1, 1], i32), np.array([5], i32), np.array([7, 8], f32), f32(0), refused=True)
case("SparseToDense", np.array([1, 5], i32), np.array([5], i32), np.array([7, 8], f32), f32(0), refused=True)
case("SparseToDense", np.array([1, 2], i32), np.array([5], i32), np.array([7, 8, 9], f32), f32(0), refused=True)

for op in ("SparseDenseCwiseMul", "SparseDenseCwiseAdd", "SparseDenseCwiseDiv"):
    for dtype in NUMBERS:
        case(op, *sparse((3, 4), 5, dtype), numbers(dtype, 12).reshape(3, 4))
    for dims, count in CASES:
        case(op, *sparse(dims, count), normal(*dims))
    for dense in ((4,), (3, 1), (1, 4), (1,), (2, 1, 4), (2, 3, 4)):
        case(op, *sparse((2, 3, 4), 9), normal(*dense))
    case(op, *sparse((3, 4), 5), normal(2, 4), refused=True)
    case(op, *sparse((3, 1), 2), normal(3, 4), refused=True)

for dtype in NUMBERS + (np.complex64,):
    case("SparseTensorDenseAdd", *sparse((3, 4), 5, dtype), numbers(dtype, 12).reshape(3, 4))
for dims, count in CASES[:4]:
    for index in (i32, i64):
        indices, values, shape = sparse(dims, count, ordered=False)
        case("SparseTensorDenseAdd", indices.astype(index), values, shape.astype(index), normal(*dims))
case("SparseTensorDenseAdd", np.array([[1], [1]], i64), np.array([1, 2], f32), np.array([3], i64), normal(3))
case("SparseTensorDenseAdd", *OUTSIDE, normal(2, 3), refused=True)
case("SparseTensorDenseAdd", *sparse((2, 3), 2), normal(3, 2), refused=True)

op = "SparseReduceSum"
for dtype in NUMBERS:
    case(op, *sparse((3, 4), 7, dtype), np.array([1], i32))
for axes in ([0], [1], [-1], [0, 2], [0, 1, 2], [], [2, 1]):
    for keep_dims in (False, True):
        case(op, *sparse((3, 4, 2), 11), np.array(axes, i32), keep_dims=keep_dims)
case(op, *sparse((3, 4), 2), np.array([0], i32))
case(op, np.array([[1, 1], [0, 0], [1, 0]], i64), np.array([-1, -2, -3], f32), np.array([3, 2], i64), np.array([1], i32))
case(op, *sparse((3, 4), 2), np.array([2], i32), refused=True)

for dims, counts, axis in ((((2, 3), (2, 1)), (3, 1), 1), (((2, 3), (4, 3), (1, 3)), (3, 7, 2), 0), (((3, 4, 2), (3, 1, 2)), (9, 4), -2),
                           (((4,), (2,)), (2, 1), 0), (((2, 2), (2, 2)), (0, 0), 1), (((2, 2), (2, 2)), (4, 0), -1)):
    parts = [sparse(one, count) for one, count in zip(dims, counts)]
    case("SparseConcat", *[list(column) for column in zip(*parts)], concat_dim=axis)
for dtype in (np.float64, i32, np.complex64):
    parts = [sparse((3, 3), 4, dtype), sparse((3, 2), 3, dtype)]
    case("SparseConcat", *[list(column) for column in zip(*parts)], concat_dim=1)
parts = [sparse((3, 3), 4), sparse((2, 3), 3)]
case("SparseConcat", *[list(column) for column in zip(*parts)], concat_dim=1, refused=True)

for dims, count in (((4, 3), 3), ((6, 2, 2), 5), ((5,), 2), ((3, 3), 0), ((2, 2), 4), ((1, 1), 0)):
    case("SparseFillEmptyRows", *sparse(dims, count), f32(9))
for dtype in (np.float64, i32, np.complex64):
    case("SparseFillEmptyRows", *sparse((6, 3), 5, dtype), numbers(dtype, 1)[0])
case("SparseFillEmptyRows", np.array([[2, 1], [0, 0], [2, 0]], i64), np.array([1, 2, 3], f32), np.array([4, 2], i64), f32(9))
case("SparseFillEmptyRows", np.array([[1]], i64), np.array([b"x"]), np.array([3], i64), np.array(b"-"))
case("SparseFillEmptyRows", *OUTSIDE, f32(1), refused=True)
case("SparseFillEmptyRows", *sparse((4, 3), 3), normal(1), refused=True)

for dtype in NUMBERS + (np.complex64,):
    case("SparseFillEmptyRowsGrad", np.array([2, 0, 3], i64), numbers(dtype, 6))
case("SparseFillEmptyRowsGrad", np.zeros(0, i64), normal(2))
case("SparseFillEmptyRowsGrad", np.array([2, 7], i64), normal(3), refused=True)

for dtype in (f32, np.float64, np.int8, np.int16, i32, i64, np.complex64):
    thresh = f32(0) if np.dtype(dtype) == np.complex64 else dtype(0)
    case("SparseAdd", *sparse((3, 4), 5, dtype), *sparse((3, 4), 6, dtype), thresh)
for dims, a, b in (((4,), 2, 3), ((3, 4, 2), 9, 13), ((3, 3), 0, 4), ((3, 3), 4, 0), ((2, 2), 0, 0)):
    for thresh in (0, 0.7):
        case("SparseAdd", *sparse(dims, a), *sparse(dims, b), f32(thresh))
case("SparseAdd", *sparse((3, 4), 5), *sparse((4, 3), 6), f32(0), refused=True)

for dtype in (f32, np.float64, np.int8, np.int16, i32, i64, np.complex64):
    a, b = sparse((3, 4), 5)[0], sparse((3, 4), 6)[0]
    summed = np.array(sorted(set(map(tuple, a)) | set(map(tuple, b))), i64)
    case("SparseAddGrad", numbers(dtype, len(summed)), a, b, summed)
    case("SparseAddGrad", numbers(dtype, len(summed) - 2), a, b, np.delete(summed, [0, 3], 0))

for dtype in (np.float16, bfloat16, f32, np.float64, i32, np.complex64, np.complex128):
    for a, b in ((False, False), (True, False), (False, True), (True, True)):
        dense = numbers(dtype, 8).reshape((2, 4) if b else (4, 2))
        case("SparseTensorDenseMatMul", *sparse((4, 3) if a else (3, 4), 7, dtype), dense, adjoint_a=a, adjoint_b=b,
             tolerance=0.05 if np.dtype(dtype).itemsize == 2 else None)
for rows, inner, columns, count in ((1, 1, 1, 1), (5, 4, 1, 9), (2, 3, 4, 0), (30, 20, 17, 80)):
    for index in (i32, i64):
        indices, values, shape = sparse((rows, inner), count, ordered=False)
        case("SparseTensorDenseMatMul", indices.astype(index), values, shape, normal(inner, columns))
case("SparseTensorDenseMatMul", np.array([[0, 0], [0, 0]], i64), np.array([1, 2], f32), np.array([2, 2], i64), normal(2, 2))
case("SparseTensorDenseMatMul", *OUTSIDE, normal(3, 2), refused=True)
case("SparseTensorDenseMatMul", *sparse((3, 4), 2), normal(3, 2), refused=True)

for dims, count, to in (((2, 6), 5, (3, 4)), ((2, 6), 5, (-1,)), ((12,), 4, (2, -1, 3)), ((3, 4, 2), 9, (6, 4)), ((3, 3), 0, (9, 1)),
                        ((2, 2), 4, (2, 2))):
    indices, _, shape = sparse(dims, count)
    case("SparseReshape", indices, shape, np.array(to, i64))
case("SparseReshape", sparse((2, 3), 2)[0], np.array([2, 3], i64), np.array([4, 2], i64), refused=True)
case("SparseReshape", sparse((2, 3), 2)[0], np.array([2, 3], i64), np.array([-1, -1], i64), refused=True)

for op in ("SparseReduceMax",):
    for dtype in NUMBERS:
        case(op, *sparse((3, 4), 7, dtype), np.array([1], i32))
    for axes in ([0], [1], [-1], [0, 2], [0, 1, 2], [], [2, 1]):
        for keep_dims in (False, True):
            case(op, *sparse((3, 4, 2), 11), np.array(axes, i32), keep_dims=keep_dims)
    case(op, *sparse((3, 4), 2), np.array([0], i32))
    case(op, np.array([[1, 1], [0, 0], [1, 0]], i64), np.array([-1, -2, -3], f32), np.array([3, 2], i64), np.array([1], i32))
    case(op, *sparse((3, 4), 2), np.array([2], i32), refused=True)

for dims, count, start, size in (((4, 5), 9, (1, 2), (2, 3)), ((4, 5), 9, (0, 0), (9, 9)), ((4, 5), 9, (3, 4), (1, 1)), ((6,), 4, (2,), (0,)),
                                 ((3, 4, 2), 15, (1, 0, 1), (2, 3, 9)), ((4, 5), 0, (1, 1), (2, 2))):
    case("SparseSlice", *sparse(dims, count), np.array(start, i64), np.array(size, i64))
for dtype in (np.float64, i32, np.complex64):
    case("SparseSlice", *sparse((4, 5), 9, dtype), np.array([1, 1], i64), np.array([2, 3], i64))
case("SparseSlice", np.array([[0], [2]], i64), np.array([b"a", b"b"]), np.array([3], i64), np.array([1], i64), np.array([2], i64))

for dtype in (f32, np.float64, i32, i64, np.complex64, np.int8):
    indices, _, _ = sparse((4, 5), 9)
    inside = indices[(indices[:, 0] >= 1) & (indices[:, 0] < 3) & (indices[:, 1] >= 2)]
    case("SparseSliceGrad", numbers(dtype, len(inside)), indices, np.array([1, 2], i64), inside - np.array([1, 2]))
case("SparseSliceGrad", np.zeros(0, f32), sparse((3, 3), 4)[0], np.array([1, 2], i64), np.zeros((0, 2), i64))

for dims, count, axis, parts in (((4, 5), 9, 1, 2), ((4, 5), 9, 0, 4), ((4, 5), 9, 1, 3), ((3, 4, 2), 13, 2, 2), ((7,), 5, 0, 3),
                                 ((4, 4), 0, 0, 2)):
    case("SparseSplit", i64(axis), *sparse(dims, count), num_split=parts)
for dtype in (np.float64, i32, np.complex64):
    case("SparseSplit", i64(0), *sparse((4, 5), 9, dtype), num_split=2)
case("SparseSplit", i64(1), *sparse((4, 2), 3), num_split=3, refused=True)

for dtype in (np.float16, f32, np.float64):
    case("SparseSoftmax", *sparse((3, 4), 7, dtype))
    case("SparseSoftmax", *sparse((2, 3, 5), 17, dtype))
case("SparseSoftmax", *sparse((3, 3), 0))
case("SparseSoftmax", np.array([[0, 0], [0, 1], [2, 0]], i64), np.array([1000, -1000, 5], f32), np.array([3, 2], i64))

for op in ("SparseSparseMaximum", "SparseSparseMinimum"):
    for dtype in NUMBERS:
        case(op, *sparse((3, 4), 5, dtype), *sparse((3, 4), 6, dtype))
    for dims, a, b in (((4,), 2, 3), ((3, 4, 2), 9, 13), ((3, 3), 0, 4), ((3, 3), 4, 0), ((2, 2), 0, 0)):
        case(op, *sparse(dims, a), *sparse(dims, b))
    case(op, *sparse((3, 4), 5), *sparse((4, 3), 6), refused=True)
