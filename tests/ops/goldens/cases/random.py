"""What is not random among the random ops."""

import numpy as np

from golden import case, normal, uniform

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
