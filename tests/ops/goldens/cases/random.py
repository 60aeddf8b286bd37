"""The deterministic outputs of random ops."""

import numpy as np

from golden import Handle, case, normal, uniform

for dtype in (np.float32, np.float64):
    alpha = uniform(0.1, 20, 12, dtype=dtype)
    for scale in (0.3, 1.0, 2.0):
        case("RandomGammaGrad", alpha, alpha * scale, tolerance=1e-4)
    case("RandomGammaGrad", alpha.reshape(3, 4), uniform(0.5, 9, 2, 1, 4, dtype=dtype), tolerance=1e-4)
case("RandomGammaGrad", np.float32([1, 2]), np.float32(1), tolerance=1e-4)
case("RandomGammaGrad", np.zeros((0, 2), np.float32), np.float32([1, 2]))

for count, each, samples in ((1, 1, 1), (3, 2, 5), (4, 1, 20), (0, 2, 3), (2, 3, 0)):
    truth = uniform(0, 9, count, each, dtype=np.int64)
    case("ComputeAccidentalHits", truth, uniform(0, 9, samples, dtype=np.int64), num_true=each)
case("ComputeAccidentalHits", np.int64([[4, 4]]), np.int64([1, 4, 2, 4]), num_true=2)
case("ComputeAccidentalHits", np.int64([[1, 2]]), np.int64([1]), num_true=1, refused=True)

for count, each, classes in ((1, 1, 1), (2, 3, 5), (4, 1, 2), (3, 2, 40), (1, 4, 8)):
    truth = uniform(0, classes, count, each, dtype=np.int64)
    case("AllCandidateSampler", truth, num_true=each, num_sampled=classes, unique=True)
case("AllCandidateSampler", np.int64([[1]]), num_true=1, num_sampled=3, unique=False)
case("AllCandidateSampler", np.int64([[1, 2]]), num_true=1, num_sampled=3, unique=True, refused=True)

# Generators: whole numbers are the same in all implementations.
PHILOX = 1
states = ([5, 6, 7], [0, 0, 0], [-1, 0, 7], [-1, -1, -1], [2**62, 1, -(2**63)])
for state in states:
    for delta in (0, 3, 2**40):
        case("RngSkip", Handle(np.int64(state)), np.int64(PHILOX), np.int64(delta))
        case("RngReadAndSkip", Handle(np.int64(state)), np.int32(PHILOX), np.uint64(delta))
for name, alg in (("RngSkip", np.int64), ("RngReadAndSkip", np.int32)):
    delta = np.int64(1) if name == "RngSkip" else np.uint64(1)
    case(name, Handle(np.int64([5, 6])), alg(PHILOX), delta, refused=True)
    case(name, Handle(np.int64([5, 6, 7])), alg(9), delta, refused=True)
    case(name, Handle(np.int64([5, 6, 7])), alg([PHILOX]), delta, refused=True)
    case(name, Handle(np.float64([5, 6, 7])), alg(PHILOX), delta, refused=True)

bounds = {np.int32: ((-(2**31), 2**31 - 1), (-3, 4), (5, 6)), np.int64: ((-(2**63), 2**63 - 1), (0, 10**15))}
for dims in ([], [1], [4], [2, 5], [0], [1000]):
    for dtype in (np.int32, np.int64, np.uint32, np.uint64):
        case("StatefulUniformFullInt", Handle(np.int64([5, 6, 7])), np.int64(PHILOX), np.int64(dims), dtype=dtype)
        case("StatelessRandomUniformFullIntV2", np.int32(dims), np.uint64([7]), np.uint64([5, 6]), np.int32(PHILOX),
             dtype=dtype)
    for dtype, ranges in bounds.items():
        for low, high in ranges:
            case("StatefulUniformInt", Handle(np.int64([5, 6, 7])), np.int64(PHILOX), np.int64(dims), dtype(low),
                 dtype(high))
            case("StatelessRandomUniformIntV2", np.int64(dims), np.uint64([2**63]), np.uint64([0, 2**64 - 1]),
                 np.int32(PHILOX), dtype(low), dtype(high))
case("StatefulUniformInt", Handle(np.int64([5, 6, 7])), np.int64(PHILOX), np.int64([2]), np.int64(4), np.int64(4),
     refused=True)
case("StatelessRandomUniformIntV2", np.int32([2]), np.uint64([7]), np.uint64([5, 6]), np.int32(PHILOX), np.int32(4),
     np.int32(4), refused=True)
case("StatelessRandomUniformV2", np.int32([2]), np.uint64([7, 8]), np.uint64([5, 6]), np.int32(PHILOX), refused=True)

for dtype in (np.int32, np.int64):
    for seed in ([1, 2], [0, 0], [-1, 7], [2**31 - 1, -(2**31)]):
        case("StatelessRandomGetKeyCounter", dtype(seed))
        case("StatelessRandomGetKeyCounterAlg", dtype(seed))
    case("StatelessRandomGetKeyCounter", dtype([1, 2, 3]), refused=True)
