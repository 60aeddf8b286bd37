"""Decompositions of matrices and solutions of linear systems.

If factors are unique only up to signs, cases compare values that do not depend on them."""

import numpy as np

import golden
from golden import case

REAL = (np.float32, np.float64)
FIELDS = REAL + (np.complex64, np.complex128)


def normal(*dims, dtype=np.float64):
    return golden.normal(*dims, dtype=dtype)


def square(*dims, dtype=np.float64):
    """Matrices that are far from singular."""
    return normal(*dims, dims[-1], dtype=dtype) + (3 * np.eye(dims[-1])).astype(dtype)


def positive(*dims, dtype=np.float64):
    a = normal(*dims, dims[-1], dtype=dtype)
    return (a @ np.conj(np.swapaxes(a, -1, -2)) + np.eye(dims[-1])).astype(dtype)


SINGULAR = np.array([[1, 2], [2, 4]], np.float64)

for op in ("MatrixInverse", "MatrixDeterminant", "LogMatrixDeterminant"):
    some = [{"adjoint": False}, {"adjoint": True}] if op == "MatrixInverse" else [{}]
    for attrs in some:
        for dtype in FIELDS:
            case(op, square(4, dtype=dtype), **attrs)
            case(op, square(2, 3, dtype=dtype), **attrs)
        case(op, square(1), **attrs)
        case(op, np.zeros((0, 0)), **attrs)
        case(op, np.zeros((0, 3, 3)), **attrs)
        case(op, square(2, 2, 3), **attrs)
        case(op, square(9, dtype=np.float32), tolerance=1e-4, **attrs)
    case(op, SINGULAR, refused=op == "MatrixInverse", **some[0])
case("MatrixDeterminant", -square(3))
case("LogMatrixDeterminant", -square(3))
case("LogMatrixDeterminant", 1e200 * square(3))

for dtype in FIELDS:
    case("Cholesky", positive(4, dtype=dtype))
    case("Cholesky", positive(2, 3, dtype=dtype))
case("Cholesky", np.triu(positive(3)).T)
case("Cholesky", positive(1))
case("Cholesky", positive(2, 2, 2))
case("Cholesky", np.zeros((0, 2, 2)))
case("Cholesky", np.zeros((0, 0)))
case("Cholesky", -positive(3))
case("Cholesky", SINGULAR - np.eye(2))

for dtype in FIELDS:
    for adjoint in (False, True):
        case("MatrixSolve", square(4, dtype=dtype), normal(4, 2, dtype=dtype), adjoint=adjoint)
        case("MatrixSolve", square(2, 3, dtype=dtype), normal(2, 3, 1, dtype=dtype), adjoint=adjoint)
        for lower in (False, True):
            attrs = {"lower": lower, "adjoint": adjoint}
            case("MatrixTriangularSolve", square(4, dtype=dtype), normal(4, 2, dtype=dtype), **attrs)
            case("MatrixTriangularSolve", square(2, 3, dtype=dtype), normal(2, 3, 2, dtype=dtype), **attrs)
for op, attrs in (("MatrixSolve", {"adjoint": False}), ("MatrixTriangularSolve", {"lower": True, "adjoint": False})):
    case(op, square(3), normal(3, 0), **attrs)
    case(op, np.zeros((0, 0)), np.zeros((0, 2)), **attrs)
    case(op, np.zeros((0, 2, 2)), np.zeros((0, 2, 3)), **attrs)
    case(op, square(2, 2, 2), normal(2, 2, 2, 3), **attrs)
case("MatrixSolve", SINGULAR, normal(2, 1), refused=True, adjoint=False)
case("MatrixTriangularSolve", SINGULAR * [[1, 1], [1, 0]], np.ones((2, 1)), lower=True, adjoint=False)
case("MatrixTriangularSolve", square(3), normal(2, 3, 2), lower=True, adjoint=False)
case("MatrixTriangularSolve", square(2, 1, 3), normal(3, 3, 2), lower=False, adjoint=True)

for dtype in FIELDS:
    for m, n in ((5, 3), (3, 5), (3, 3)):
        for fast, l2 in ((True, 0.0), (True, 0.5), (False, 0.0)):
            case("MatrixSolveLs", normal(m, n, dtype=dtype), normal(m, 2, dtype=dtype), np.float64(l2),
                 tolerance=1e-3 if dtype in (np.float32, np.complex64) else 1e-10, fast=fast)
    case("MatrixSolveLs", normal(2, 4, 3, dtype=dtype), normal(2, 4, 1, dtype=dtype), np.float64(0.1),
         tolerance=1e-3 if dtype in (np.float32, np.complex64) else 1e-10, fast=True)
case("MatrixSolveLs", np.ones((3, 2)), normal(3, 1), np.float64(0), tolerance=1e-10, fast=False)
case("MatrixSolveLs", np.ones((3, 2)), normal(3, 1), np.float64(0), refused=True, fast=True)
case("MatrixSolveLs", np.zeros((0, 2)), np.zeros((0, 1)), np.float64(0), expected=[np.zeros((2, 1))], fast=True)

for dtype in FIELDS:
    for m, n in ((4, 3), (3, 4), (3, 3), (1, 4), (4, 1)):
        a = normal(m, n, dtype=dtype)
        case("Svd", a, outputs=[0], compute_uv=True, full_matrices=False)
        case("Svd", a, outputs=[0], compute_uv=True, full_matrices=True)
        case("Svd", a, outputs=[0], compute_uv=False, full_matrices=False)
    case("Svd", normal(2, 2, 3, dtype=dtype), outputs=[0], compute_uv=True, full_matrices=False)
    h = positive(2, 3, dtype=dtype)
    case("SelfAdjointEigV2", h[0], outputs=[0], compute_v=True)
    case("SelfAdjointEigV2", h, outputs=[0], compute_v=False)
    case("SelfAdjointEigV2", np.tril(h), outputs=[0], compute_v=True)
case("Svd", np.zeros((3, 2)), outputs=[0], compute_uv=True, full_matrices=False)
case("Svd", np.zeros((0, 2)), compute_uv=True, full_matrices=False)
case("Svd", np.zeros((2, 0)), compute_uv=True, full_matrices=False)
case("SelfAdjointEigV2", np.diag([3.0, 1.0, 2.0]), outputs=[0], compute_v=True)
case("SelfAdjointEigV2", np.zeros((0, 0)), compute_v=True)
case("SelfAdjointEigV2", np.zeros((2, 0, 0)), outputs=[0], compute_v=False)
case("SelfAdjointEigV2", normal(1, 1), outputs=[0], compute_v=True)

# Both compute Householder reflections, so that signs agree.
for dtype in FIELDS:
    for m, n in ((4, 3), (3, 4), (3, 3), (1, 3), (3, 1)):
        for full in (False, True):
            case("Qr", normal(m, n, dtype=dtype), full_matrices=full)
case("Qr", normal(2, 2, 4, 3), full_matrices=False)
case("Qr", np.zeros((0, 3, 2)), full_matrices=False)
case("Qr", np.zeros((3, 0)), full_matrices=False)
