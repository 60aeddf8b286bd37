"""Products of matrices and of vectors."""

import numpy as np

from golden import bfloat16, case, normal, uniform

FLOATING = (np.float16, bfloat16, np.float32, np.float64)
WHOLE = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)
COMPLEX = (np.complex64, np.complex128)


def values(*dims, dtype=np.float32):
    if dtype in WHOLE:
        return uniform(0, 5, *dims, dtype=dtype)
    return normal(*dims, dtype=dtype) if dtype in COMPLEX else normal(*dims).astype(dtype)


def turned(m, n, across, dtype=np.float32, front=()):
    return values(*front, *((n, m) if across else (m, n)), dtype=dtype)


for a in (False, True):
    for b in (False, True):
        for dtype in FLOATING + COMPLEX + (np.int32, np.int64):
            case("MatMul", turned(3, 4, a, dtype), turned(4, 2, b, dtype), transpose_a=a, transpose_b=b)
            for op in ("BatchMatMul", "BatchMatMulV2"):
                left, right = turned(2, 3, a, dtype, (2,)), turned(3, 4, b, dtype, (2,))
                case(op, left, right, adj_x=a, adj_y=b)
        case("BatchMatMulV2", turned(3, 4, a, front=(2, 1)), turned(4, 2, b, front=(3,)), adj_x=a, adj_y=b)
        case("BatchMatMulV2", turned(3, 4, a, front=(5,)), turned(4, 2, b), adj_x=a, adj_y=b)
        case("BatchMatMulV2", turned(3, 4, a), turned(4, 2, b, front=(5,)), adj_x=a, adj_y=b)
        for ta in (np.float32, bfloat16):
            for tb in (np.float32, bfloat16):
                case("SparseMatMul", turned(3, 4, a, ta), turned(4, 2, b, tb), transpose_a=a, transpose_b=b,
                     a_is_sparse=True, b_is_sparse=False)
for dtype in (np.int16, np.uint8, np.uint16, np.uint32, np.uint64):
    left, right = values(2, 2, 3, dtype=dtype), values(1, 3, 2, dtype=dtype)
    case("BatchMatMulV2", left, right, expected=[left @ right], adj_x=False, adj_y=False)

plain = {"transpose_a": False, "transpose_b": False}
sparse = {"a_is_sparse": False, "b_is_sparse": False}
straight = {"adj_x": False, "adj_y": False}
for m, n, k in ((1, 1, 1), (1, 5, 3), (5, 1, 3), (2, 2, 0), (0, 3, 2), (5, 17, 9)):
    case("MatMul", values(m, k), values(k, n), **plain)
    case("SparseMatMul", values(m, k), values(k, n), **plain, **sparse)
    case("BatchMatMul", values(2, 3, m, k), values(2, 3, k, n), **straight)
    case("BatchMatMulV2", values(2, 3, m, k), values(3, k, n), **straight)
case("BatchMatMul", values(0, 2, 3), values(0, 3, 2), **straight)
case("BatchMatMulV2", values(0, 2, 3), values(1, 3, 2), **straight)
case("BatchMatMul", values(2, 3), values(3, 2), **straight)
case("BatchMatMulV2", values(2, 3), values(3, 2), **straight)

for dtype in FLOATING + WHOLE:
    case("Cross", values(2, 3, dtype=dtype), values(2, 3, dtype=dtype))
case("Cross", values(3), values(3))
case("Cross", values(2, 1, 4, 3), values(2, 1, 4, 3))
case("Cross", values(0, 3), values(0, 3))
