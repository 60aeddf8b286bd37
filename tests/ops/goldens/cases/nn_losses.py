"""Softmax and the losses on top of it, and which of the logits are the greatest."""

import numpy as np

from golden import bfloat16, case, normal, uniform

FLOATING = (np.float16, bfloat16, np.float32, np.float64)

for op in ("Softmax", "LogSoftmax"):
    for dtype in FLOATING:
        case(op, normal(3, 5).astype(dtype))
    case(op, np.zeros((0, 4), np.float32))
    case(op, np.array([[1000.0, -1000.0, 0.0]], np.float32))
    case(op, normal(7, 1))
    case(op, normal(2, 2, 3))


def probabilities(*shape):
    weights = uniform(0.1, 1, *shape)
    return weights / weights.sum(-1, keepdims=True)


for dtype in FLOATING:
    case("SoftmaxCrossEntropyWithLogits", normal(3, 5).astype(dtype), probabilities(3, 5).astype(dtype))
    for labels in (np.int32, np.int64):
        case("SparseSoftmaxCrossEntropyWithLogits", normal(3, 5).astype(dtype), uniform(0, 5, 3, dtype=labels))
    case("L2Loss", normal(4, 5).astype(dtype))
for shape in ((1, 1), (6, 1), (1, 9)):
    case("SoftmaxCrossEntropyWithLogits", normal(*shape), probabilities(*shape))
    case("SparseSoftmaxCrossEntropyWithLogits", normal(*shape), uniform(0, shape[1], shape[0], dtype=np.int64))
case("SoftmaxCrossEntropyWithLogits", 1000 * normal(2, 3), probabilities(2, 3))
case("SoftmaxCrossEntropyWithLogits", normal(2, 3), probabilities(2, 4), refused=True)
case("SparseSoftmaxCrossEntropyWithLogits", normal(2, 3), np.int32([0, 3]), refused=True)
for shape in ((), (0,), (1,), (2, 3, 4)):
    case("L2Loss", normal(*shape))

for targets in (np.int32, np.int64):
    for k in (1, 3, 5, 9):
        predictions, wanted = normal(6, 5), uniform(0, 5, 6, dtype=targets)
        case("InTopK", predictions, wanted, k=k)
        case("InTopKV2", predictions, wanted, targets(k))
ties = np.float32([[1, 1, 0], [1, 1, 2], [np.nan, 1, 2], [np.inf, 1, 2], [1, 2, 3]])
outside = np.int32([1, 0, 1, 1, 5])
case("InTopK", ties, outside, k=1)
case("InTopKV2", ties, outside, np.int32(1))
case("InTopK", normal(0, 4), np.zeros(0, np.int64), k=2)
case("InTopKV2", normal(0, 4), np.zeros(0, np.int64), np.int64(2))
case("InTopK", normal(2, 4), np.zeros(3, np.int32), k=2, refused=True)
case("InTopKV2", normal(2, 4), np.zeros(3, np.int32), np.int32(2), refused=True)

for dtype in (*FLOATING, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16):
    values = (9 * uniform(0, 1, 3, 7)).astype(dtype)
    for n, reverse in ((0, False), (3, False), (6, True)):
        case("NthElement", values, np.int32(n), reverse=reverse)
case("NthElement", normal(5), np.int32(2), reverse=True)
case("NthElement", normal(2, 3, 4), np.int32(3))
case("NthElement", normal(0, 4), np.int32(3))
case("NthElement", normal(2, 4), np.int32(4), refused=True)
case("NthElement", normal(2, 4), np.int32(-1), refused=True)
