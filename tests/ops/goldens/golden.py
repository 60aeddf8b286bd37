"""Golden cases: small graphs with the values that an independent implementation computed for them.

A family of ops has a script, cases/<family>.py, that calls case() for each of its cases, and
cases/<family>.pb.gz, which `generate` writes from it: one GraphDef for each case, each preceded by its
length as a varint. The nodes of such a graph are

    in_0, in_1, ...          Consts (or variables with init_0, init_1, ...): the inputs
    case                     the op itself
    expect_0, expect_1, ...  Consts: what its outputs must be
    after_0, after_1, ...    Consts: what the variable in_N must hold after that
    tolerance                a Const, where the type's own does not do
    refused                  a NoOp: the op must fail
"""

import gzip
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import op_def_library, op_def_registry

v1 = tf.compat.v1
v1.disable_eager_execution()
bfloat16 = tf.bfloat16.as_numpy_dtype

written = []  # the cases of the family so far, serialized


class Ref:
    """An input that is a variable with this value."""

    def __init__(self, value):
        self.value = np.asarray(value)


class Handle(Ref):
    """An input that is a variable with this value, given by a handle."""


def case(op, *inputs, expected=None, tolerance=None, refused=False, outputs=None, **attrs):
    """Adds a case: `op` with these inputs, in the order of TensorFlow's definition.

    An input is an array, a Ref or a Handle, or a list of them where the op takes a list. Types follow from the
    inputs, all other attributes are given. TensorFlow computes what is expected, unless `expected`
    has the arrays (from NumPy or SciPy), one for each output, None for one that is not compared.
    `outputs` lists the outputs to compare instead of all. `refused`: TensorFlow fails, and so must we.
    """
    definition = op_def_registry.get(op)
    if definition is None:
        raise ValueError(f"TensorFlow has no op {op}")
    if len(inputs) != len(definition.input_arg):
        raise ValueError(f"{op} takes {[arg.name for arg in definition.input_arg]}")
    if tolerance is not None and any(attr.name == "tolerance" for attr in definition.attr):
        attrs["tolerance"], tolerance = tolerance, None  # an attribute of the op itself, as in ApproximateEqual
    graph = v1.Graph()
    variables, count = [], 0

    def as_tensor(value, name):
        if not isinstance(value, Ref):
            return v1.constant(value, name=name)
        like = dict(shape=value.value.shape, dtype=v1.as_dtype(value.value.dtype), container="", shared_name="", name=name)
        start, init = name.replace("in_", "start_"), name.replace("in_", "init_")
        if isinstance(value, Handle):
            variable = tf.raw_ops.VarHandleOp(**like | dict(shared_name=name))  # otherwise all would be the same variable
            tf.raw_ops.AssignVariableOp(resource=variable, value=v1.constant(value.value, name=start), name=init)
            held = tf.raw_ops.ReadVariableOp(resource=variable, dtype=like["dtype"], name=name.replace("in_", "read_"))
        else:
            held = variable = tf.raw_ops.VariableV2(**like)
            tf.raw_ops.Assign(
                ref=variable, value=v1.constant(value.value, name=start), validate_shape=True, use_locking=True, name=init
            )
        variables.append((name, held))
        return variable

    with graph.as_default():
        arguments = {}
        for arg, value in zip(definition.input_arg, inputs):
            is_list = bool(arg.number_attr or arg.type_list_attr)
            tensors = []
            for one in value if is_list else [value]:
                tensors.append(as_tensor(one, f"in_{count}"))
                count += 1
            arguments[arg.name] = tensors if is_list else tensors[0]
        # Shape functions may refuse early what kernels would refuse.
        try:
            op_def_library.apply_op(op, name="case", **arguments, **with_defaults(definition, attrs))
        except ValueError:
            if not refused:
                raise
            return print(f"{op}: not even TensorFlow's graph takes this; left out")
        node = graph.get_operation_by_name("case")

        results, after = list(expected) if expected is not None else None, []
        with v1.Session(graph=graph, config=sober()) as session:
            try:
                for name, _ in variables:
                    session.run(name.replace("in_", "init_"))
                if results is None or variables:
                    computed = session.run([read(out) for out in node.outputs] or node)
                    computed = computed if isinstance(computed, list) else []
                    results = computed if results is None else results
                    after = [session.run(variable) for _, variable in variables]
                failed = False
            except (tf.errors.OpError, ValueError) as why:
                failed = True
                if not refused:
                    raise RuntimeError(f"{op}: TensorFlow fails: {why}") from why
        if refused and not failed:
            raise RuntimeError(f"{op}: TensorFlow does not refuse this")

        if refused:
            v1.no_op(name="refused")
        else:
            for i, value in enumerate(results):
                if value is not None and (outputs is None or i in outputs):
                    v1.constant(value, dtype=node.outputs[i].dtype.base_dtype, name=f"expect_{i}")
            for (name, variable), value in zip(variables, after):
                v1.constant(value, dtype=variable.dtype.base_dtype, name=name.replace("in_", "after_"))
        if tolerance is not None:
            v1.constant(tolerance, dtype=tf.float64, name="tolerance")
    graph_def = graph.as_graph_def()
    for node in [node for node in graph_def.node if node.op == "ReadVariableOp" and node.name.startswith("read_")]:
        graph_def.node.remove(node)
    written.append(graph_def.SerializeToString(deterministic=True))


def with_defaults(definition, attrs):
    """The attributes, and the defaults of those that are neither given nor told by the inputs."""
    told = set()
    for arg in definition.input_arg:
        told |= {arg.type_attr, arg.number_attr, arg.type_list_attr}
    given = dict(attrs)
    for attr in definition.attr:
        if attr.name not in told and attr.name not in given and attr.HasField("default_value"):
            kind = attr.default_value.WhichOneof("value")
            value = getattr(attr.default_value, kind)
            if kind == "list":
                value = next((list(items) for _, items in value.ListFields()), [])
            elif kind == "shape":
                value = tf.TensorShape(value)
            given[attr.name] = value
    return given


def read(output):
    return tf.identity(output) if output.dtype._is_ref_dtype else output


def sober():
    """A session that computes the graph op by op, without optimizations."""
    config = v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    config.graph_options.optimizer_options.opt_level = -1
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return config


def varint(value):
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def save(path):
    """Writes all cases so far; the same cases make the same bytes."""
    body = b"".join(varint(len(one)) + one for one in written)
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as file:
        file.write(body)
    print(f"{path}: {len(written)} cases, {os.path.getsize(path)} bytes")
    written.clear()


_generator = np.random.default_rng(1)


def normal(*shape, dtype=np.float32):
    """Normally distributed numbers, the same in every run of a family; complex where dtype is."""
    values = _generator.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * _generator.standard_normal(shape)
    return values.astype(dtype)


def uniform(low, high, *shape, dtype=np.float32):
    """Uniform numbers in [low, high), or whole ones where dtype is whole."""
    if np.dtype(dtype).kind in "iu":
        return _generator.integers(low, high, shape, dtype=dtype)
    return _generator.uniform(low, high, shape).astype(dtype)


def some(dtype, *shape):
    """Elements of any type, most of them different."""
    if dtype is str:
        count = np.prod(shape, dtype=int)
        return np.array([f"text {i}" for i in range(count)], object).reshape(shape)
    if dtype is bool:
        return uniform(0, 2, *shape, dtype=np.int32) == 1
    if np.dtype(dtype).kind in "iu":
        return uniform(0, 100, *shape, dtype=dtype)
    wide = np.complex128 if np.dtype(dtype).kind == "c" else np.float64
    return normal(*shape, dtype=wide).astype(dtype)


def ints(*values, dtype=np.int32):
    return np.array(values, dtype)


def reseed():
    """Starts each family from the same random numbers, independently of other families."""
    global _generator
    _generator = np.random.default_rng(1)
