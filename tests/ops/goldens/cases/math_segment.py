"""Ops that combine rows with the same number."""

import numpy as np

from golden import bfloat16, case, normal, uniform

FLOATING = (np.float16, bfloat16, np.float32, np.float64)
WHOLE = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)
COMPLEX = (np.complex64, np.complex128)


def rows(*dims, dtype=np.float32):
    return uniform(1, 6, *dims, dtype=dtype) if dtype in WHOLE else normal(*dims).astype(dtype)


def wide(count):
    """Rows longer than the blocks of the kernels."""
    return np.arange(count * 300, dtype=np.float32).reshape(count, 300) % 7


SORTED = np.array([0, 0, 2, 2, 2, 3], np.int32)  # segment 1 is empty
ANY = np.array([3, 0, -1, 0, 4, 3], np.int64)

for kind in ("Sum", "Mean", "Prod", "Max", "Min"):
    op = "Segment" + kind
    more = COMPLEX if kind in ("Sum", "Prod") else ()
    for dtype in FLOATING + WHOLE + more:
        case(op, rows(6, 2, dtype=dtype), SORTED)
    case(op, rows(6, 2, 3), SORTED.astype(np.int64))
    case(op, rows(6), SORTED)
    case(op, rows(6, 1), np.zeros(6, np.int32))
    case(op, rows(6, 0), SORTED)
    case(op, rows(0, 3), np.zeros(0, np.int32))
    case(op, wide(3), np.int32([1, 1, 2]))
    case(op, rows(3, 2), np.int32([0, 2, 1]), refused=True)
    case(op, rows(3, 2), np.int32([-1, 0, 1]), refused=True)

    if kind == "Mean":
        continue
    op = "UnsortedSegment" + kind
    for dtype in FLOATING + WHOLE + more:
        case(op, rows(6, 2, dtype=dtype), ANY, np.int32(6))
    case(op, rows(2, 3, 2), ANY.reshape(2, 3), np.int64(5))
    case(op, rows(6), ANY, np.int32(5))
    case(op, rows(2, 3), np.int32(1), np.int32(2))
    case(op, rows(6, 0), ANY, np.int32(5))
    case(op, rows(0, 3), np.zeros(0, np.int32), np.int32(2))
    case(op, wide(3), np.int32([1, 0, 1]), np.int32(2))
    case(op, rows(3, 2), np.int32([0, 2, 1]), np.int32(2), refused=True)

INDICES = np.array([2, 0, 2, 1, 3, 3], np.int32)

for kind in ("Sum", "Mean", "SqrtN"):
    for count in ((), (np.int32(6),)):
        op = f"SparseSegment{kind}" + ("WithNumSegments" if count else "")
        for dtype in FLOATING + (WHOLE if kind == "Sum" else ()):
            case(op, rows(4, 2, dtype=dtype), INDICES, SORTED, *count, sparse_gradient=False)
        case(op, rows(4, 2, 3), INDICES.astype(np.int64), SORTED.astype(np.int64), *count, sparse_gradient=False)
        case(op, rows(4), INDICES, SORTED, *count, sparse_gradient=False)
        case(op, wide(4), INDICES, SORTED, *count, sparse_gradient=False)
        case(op, rows(4, 2), INDICES[:0], SORTED[:0], *count, sparse_gradient=False)
        case(op, rows(4, 2), INDICES + 1, SORTED, *count, refused=True, sparse_gradient=False)
        case(op, rows(4, 2), INDICES, SORTED[::-1].copy(), *count, refused=True, sparse_gradient=False)
        if count:
            case(op, rows(4, 2), INDICES, SORTED, np.int32(3), refused=True, sparse_gradient=False)

    op = f"SparseSegment{kind}Grad"
    for dtype in FLOATING:
        case(op, rows(4, 2, dtype=dtype), INDICES, SORTED, np.int32(5))
    case(op, rows(4, 2, 3), INDICES.astype(np.int64), SORTED.astype(np.int64), np.int32(4))
    case(op, rows(4), INDICES, SORTED, np.int32(4))
    case(op, rows(2, 2), INDICES[:0], SORTED[:0], np.int32(3), expected=[np.zeros((3, 2), np.float32)])
    case(op, rows(4, 2), INDICES, SORTED, np.int32(3), refused=True)
    case(op, rows(3, 2), INDICES, SORTED, np.int32(4), refused=True)
