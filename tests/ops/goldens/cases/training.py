"""The optimizers' updates: of whole variables, and of the rows that indices name."""

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import kernels

from golden import Handle, Ref, bfloat16, case, normal, op_def_registry, uniform

FLOATING = (np.float16, bfloat16, np.float32, np.float64)

SCALARS = dict(
    lr=0.1, alpha=0.2, l1=0.05, l2=0.1, l2_shrinkage=0.02, momentum=0.9, rho=0.8, epsilon=0.01, lr_power=-0.5,
    beta1_power=0.81, beta2_power=0.9, beta1=0.9, beta2=0.95, logbase=0.7, sign_decay=0.6, beta=0.7, global_step=3,
)
# Slots that hold squares must not be negative.
POSITIVE = {"accum", "accum_update", "v", "vhat", "ms", "gradient_squared_accumulator"}


def update(op, dims, dtype, indices=None, tolerance=None, refused=False, change=None, **settings):
    """One case; `change` replaces inputs, `settings` scalars and attributes."""
    given = SCALARS | {name: value for name, value in settings.items() if name in SCALARS}
    attrs = {name: value for name, value in settings.items() if name not in SCALARS}
    inputs = []
    for port in op_def_registry.get(op).input_arg:
        if change and port.name in change:
            value = change[port.name]
        elif port.is_ref or port.type == tf.resource.as_datatype_enum:
            value = normal(*dims) if port.name not in POSITIVE or op in ("ApplyMomentum", "ResourceApplyMomentum") else uniform(0.1, 2, *dims)
            if port.name == "mg":
                value = value * np.float32(0.1)
            if port.name == "ms" and "Centered" in op:
                value = value + np.float32(1)
            value = (Ref if port.is_ref else Handle)(value.astype(dtype))
        elif port.name in ("grad", "delta"):
            value = normal(*(dims if indices is None else (len(indices), *dims[1:]))).astype(dtype)
        elif port.name == "indices":
            value = indices
        elif port.name == "global_step":
            value = np.int64(given["global_step"])
        else:
            value = np.asarray(given[port.name]).astype(dtype)
        inputs.append(value)
    case(op, *inputs, tolerance=tolerance, refused=refused, use_locking=True, **attrs)


VARIANTS = {
    "Momentum": "use_nesterov", "Adagrad": "update_slots", "Adam": "use_nesterov",
    "Ftrl": "multiply_linear_by_lr", "FtrlV2": "multiply_linear_by_lr",
}
DENSE = (
    "GradientDescent Momentum Adagrad AdagradDA Adadelta Adam AdaMax RMSProp CenteredRMSProp Ftrl FtrlV2 ProximalAdagrad "
    "ProximalGradientDescent AddSign PowerSign"
).split()
SPARSE = "Momentum Adagrad AdagradDA Adadelta RMSProp CenteredRMSProp Ftrl ProximalAdagrad ProximalGradientDescent".split()


def types(op):
    """The floating types for which TensorFlow has a kernel."""
    allowed = set()
    for kernel in kernels.get_registered_kernels_for_op(op).kernel:
        if kernel.device_type == "CPU":
            for constraint in kernel.constraint:
                if constraint.name == "T":
                    allowed |= set(constraint.allowed_values.list.type)
    return [dtype for dtype in FLOATING if tf.as_dtype(dtype).as_datatype_enum in allowed]


# TensorFlow rounds every step to half precision, we round at the end.
HALF = {np.float16: 0.03, bfloat16: 0.2}

for name in DENSE:
    op = "Apply" + name
    for dtype in types(op):
        update(op, (3, 5), dtype, tolerance=HALF.get(dtype))
    update(op, (), np.float32)
    update(op, (0, 2), np.float32)
    update(op, (1, 1, 7), np.float64, lr=0.03, alpha=0.7, l1=0.0, l2=0.0)
    update(op, (70,), np.float32, l1=0.5, l2=0.5)
    if name in VARIANTS:
        for value in (False, True):
            update(op, (4, 3), np.float32, **{VARIANTS[name]: value})
    if "Ftrl" in name:
        update(op, (4, 3), np.float64, lr_power=-0.7)
        update(op, (4, 3), np.float64, lr_power=0.0)
        update(op, (4, 3), np.float64, lr=0.0, lr_power=-0.3, multiply_linear_by_lr=True)
    gradient = "delta" if name in ("GradientDescent", "ProximalGradientDescent") else "grad"
    update(op, (2, 3), np.float32, change={gradient: np.zeros((2, 3), np.float32)})
    if "Ftrl" not in name:  # its comparison makes TensorFlow treat NaN as zero
        update(op, (2,), np.float32, change={gradient: np.array([np.inf, np.nan], np.float32)})

for name in SPARSE:
    op = "SparseApply" + name
    for dtype in types(op):
        update(op, (6, 3), dtype, np.array([4, 0, 1], np.int32), tolerance=HALF.get(dtype))
    for index in (np.int32, np.int64):
        update(op, (5, 1), np.float32, np.array([4, 2], index))
        update(op, (3, 2, 2), np.float64, np.array([1, 0, 1], index), l1=0.0)
        update(op, (4,), np.float32, np.array([3, 3, 0], index))
    update(op, (4, 2), np.float32, np.zeros((0,), np.int32))
    update(op, (4, 40), np.float32, np.array([2, 1, 2, 2], np.int64), l1=0.5, l2=0.5)
    update(op, (4, 2), np.float32, np.array([1, 4], np.int32), refused=True)
    update(op, (4, 2), np.float32, np.array([1, -1], np.int32), refused=True)
    update(op, (4, 2), np.float32, np.array([1, 2], np.int32), refused=True, change={"grad": np.zeros((3, 2), np.float32)})
    if name in VARIANTS:
        for value in (False, True):
            update(op, (4, 3), np.float32, np.array([3, 1, 3], np.int32), **{VARIANTS[name]: value})
    if name == "Ftrl":
        update(op, (4, 3), np.float64, np.array([2, 0], np.int32), lr_power=-0.7)

# Updates of variables given by handles, and newer updates.
VARIANTS |= {"AdagradV2": "update_slots", "KerasMomentum": "use_nesterov"}


def dense(op, variant):
    for dtype in types(op):
        update(op, (3, 5), dtype, tolerance=HALF.get(dtype))
    update(op, (), np.float32)
    update(op, (0, 2), np.float32)
    update(op, (1, 1, 7), np.float64, lr=0.03, alpha=0.7, l1=0.0, l2=0.0)
    update(op, (70,), np.float32, l1=0.5, l2=0.5)
    for value in (False, True) if variant else ():
        update(op, (4, 3), np.float32, **{variant: value})


def sparse(op, variant):
    for dtype in types(op):
        update(op, (6, 3), dtype, np.array([4, 0, 1], np.int32), tolerance=HALF.get(dtype))
    for index in (np.int32, np.int64):
        update(op, (5, 1), np.float32, np.array([4, 2], index))
        update(op, (4,), np.float32, np.array([3, 3, 0], index))
    update(op, (4, 2), np.float32, np.zeros((0,), np.int32))
    update(op, (4, 2), np.float32, np.array([1, 4], np.int32), refused=True)
    for value in (False, True) if variant else ():
        update(op, (4, 3), np.float32, np.array([3, 1, 3], np.int32), **{variant: value})


for name in DENSE + ["AdagradV2", "KerasMomentum", "AdamWithAmsgrad"]:
    dense("ResourceApply" + name, VARIANTS.get(name))
dense("ApplyAdagradV2", "update_slots")
for name in SPARSE + ["AdagradV2", "KerasMomentum", "FtrlV2"]:
    sparse("ResourceSparseApply" + name, VARIANTS.get(name))
sparse("SparseApplyAdagradV2", "update_slots")
sparse("SparseApplyFtrlV2", "multiply_linear_by_lr")
