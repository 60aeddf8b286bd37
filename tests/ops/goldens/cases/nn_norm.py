"""Normalizations and their gradients."""

import numpy as np

from golden import bfloat16, case, normal, uniform

HALVES = (np.float16, bfloat16)


def first(x):
    """The same with the channels before the axes."""
    return np.ascontiguousarray(np.moveaxis(x, -1, 1))


def channels(count, dtype=np.float32):
    """Scale, offset, mean and variance."""
    return [v.astype(dtype) for v in (normal(count), normal(count), normal(count), uniform(0.5, 2, count))]


for version in ("", "V2", "V3"):
    op, gradient = "FusedBatchNorm" + version, "FusedBatchNormGrad" + version
    rest = [np.float32(0)] if version == "V3" else []
    some = [0, 1, 2] if not version else None
    for training in (True, False):
        compared = [0, 1, 2, 3, 4] if training else [0, 1, 2]
        for x in (normal(2, 3, 4, 3), normal(2, 1, 1, 5) + 100, normal(1, 1, 1, 2), normal(40, 2, 2, 1)):
            for data_format in ("NHWC", "NCHW"):
                laid = x if data_format == "NHWC" else first(x)
                at = {"data_format": data_format, "is_training": training, "epsilon": 1e-3}
                parameters = channels(x.shape[-1])
                # Sums of elements around 100 are rounded, and these deviate from their mean by one.
                tolerance = 2e-5 if x.mean() < 50 else 2e-4
                case(op, laid, *parameters, outputs=compared, tolerance=tolerance, **at)
                if not training and data_format == "NCHW":  # TensorFlow's processor has none
                    continue
                case(gradient, normal(*laid.shape), laid, parameters[0], *parameters[2:], *rest, outputs=[0, 1, 2], tolerance=2e-4, **at)
        for dtype in HALVES if version else ():
            x, tolerance = normal(2, 3, 4, 3).astype(dtype), 0.06 if dtype == bfloat16 else 0.01
            at = {"is_training": training, "tolerance": tolerance}
            parameters = channels(3)
            case(op, x, *parameters, outputs=compared, **at)
            case(gradient, normal(*x.shape).astype(dtype), x, parameters[0], *parameters[2:], *rest, outputs=[0, 1, 2], **at)
    for factor in (0.25, 0.9):
        case(op, normal(2, 3, 4, 3), *channels(3), exponential_avg_factor=factor, tolerance=2e-5, outputs=[0, 1, 2, 3, 4])
    scale, offset = channels(3)[:2]
    nothing = np.zeros(0, np.float32)
    case(op, normal(2, 3, 4, 3), scale, offset, nothing, nothing, tolerance=2e-5, outputs=[0, 1, 2, 3, 4])
    case(op, normal(2, 3, 4, 3), normal(2), offset, nothing, nothing, refused=True)
    case(op, normal(3, 4, 3), scale, offset, nothing, nothing, refused=True)
    case(op, normal(2, 3, 4, 3), scale, offset, nothing, nothing, is_training=False, refused=True)
    case(gradient, normal(2, 3, 4, 3), normal(2, 3, 3, 3), scale, offset, offset, *rest, refused=True)
for training in (True, False):
    for data_format in ("NDHWC", "NCDHW"):
        x = normal(2, 2, 3, 2, 3)
        x = x if data_format == "NDHWC" else first(x)
        at = {"data_format": data_format, "is_training": training, "epsilon": 1e-3}
        parameters = channels(3)
        case("FusedBatchNormV3", x, *parameters, outputs=[0, 1, 2], tolerance=2e-5, **at)
        if training or data_format == "NDHWC":
            case("FusedBatchNormGradV3", normal(*x.shape), x, parameters[0], *parameters[2:], np.float32(0), outputs=[0, 1, 2], tolerance=2e-4, **at)



def neighbours(x, radius):
    """Sums over the channels up to `radius` away."""
    width = x.shape[-1]
    return np.stack([x[..., max(0, c - radius) : c + radius + 1].sum(-1) for c in range(width)], -1)


def respond(x, depth_radius=5, bias=1.0, alpha=1.0, beta=0.5):
    """LRN in double, for types that TensorFlow's processor does not have."""
    x = x.astype(np.float64)
    return x * (bias + alpha * neighbours(x * x, depth_radius))**-beta


def respond_back(x, y, dy, depth_radius=5, bias=1.0, alpha=1.0, beta=0.5):
    """Its gradient."""
    x, y, dy = (v.astype(np.float64) for v in (x, y, dy))
    norm = bias + alpha * neighbours(x * x, depth_radius)
    return dy * norm**-beta - 2 * alpha * beta * x * neighbours(dy * y / norm, depth_radius)


for dtype in (np.float32, *HALVES):
    tolerance = {np.float16: 0.01, bfloat16: 0.06}.get(dtype)
    for more in ({}, {"depth_radius": 2, "bias": 2.0, "alpha": 1e-3, "beta": 0.75}, {"depth_radius": 1, "alpha": 0.5, "beta": 1.0}, {"depth_radius": 0}):
        x, dy = (normal(2, 2, 3, 7).astype(dtype) for _ in range(2))
        # A library may recompute the output from the input: they must match.
        y = respond(x, **more).astype(dtype)
        dx = respond_back(x, y, dy, **more).astype(dtype)
        own = dtype in HALVES
        case("LRN", x, expected=[y] if own else None, tolerance=tolerance, **more)
        case("LRNGrad", dy, x, y, expected=[dx] if own else None, tolerance=tolerance, **more)
case("LRN", np.zeros((0, 2, 2, 3), np.float32))
case("LRN", normal(1, 1, 1, 1))
case("LRN", normal(2, 3, 4), refused=True)
case("LRNGrad", normal(1, 2, 2, 3), normal(1, 2, 2, 3), normal(1, 2, 2, 2), refused=True)
