"""TensorArrays of all generations and stacks, straight and in loops, with gradients and errors.

TensorFlow has no gradients of these ops in functional loops; tests/api/tensor_array_test.cpp has.
"""

import numpy as np
import tensorflow as tf

from control_flow import f32, i32

v1, raw = tf.compat.v1, tf.raw_ops
models = {}
FLOAT = tf.float32


def model(*, fails=(), loops="functional", producer=None, **feeds):
    """As control_flow.model. `fails` are further steps that must fail, each with all feeds; `loops` may be "old", of
    Enter and Exit; `producer` is the version of a graph that ops are used in which were taken out later."""

    def register(build):
        def made(random, recorder):
            (v1.enable_control_flow_v2 if loops == "functional" else v1.disable_control_flow_v2)()
            graph = v1.Graph()
            with graph.as_default():
                if producer:
                    old = v1.GraphDef()
                    old.versions.producer = producer
                    old.node.add(name="old", op="NoOp")
                    v1.import_graph_def(old, name="")
                given = {name: np.asarray(values) for name, values in feeds.items()}
                inputs = [v1.placeholder(each.dtype, [None] * (each.ndim - 1), name) for name, each in given.items()]
                found = build(*inputs)
                names = [tf.identity(each, f"out_{i}").op.name for i, each in enumerate(found)]
            recorded = recorder(graph)
            for step in range(len(next(iter(given.values())))):
                recorded.step({name: each[step] for name, each in given.items()}, names)
            for feed in fails:
                try:
                    recorded.session.run([name + ":0" for name in names], {k + ":0": v for k, v in feed.items()})
                except tf.errors.OpError as error:
                    kind = type(error).__name__.removesuffix("Error")
                    recorded.fails("".join("_" + c.lower() if c.isupper() else c for c in kind)[1:], feed, names)
                else:
                    raise AssertionError(f"{build.__name__} does not fail with {feed}")
            return recorded

        models["array_" + build.__name__] = made
        return build

    return register


def new(size, **options):
    made = raw.TensorArrayV3(size=size, dtype=FLOAT, **options)
    return made.handle, made.flow


def write(handle, index, value, flow):
    return raw.TensorArrayWriteV3(handle=handle, index=index, value=value, flow_in=flow)


def read(handle, index, flow):
    return raw.TensorArrayReadV3(handle=handle, index=index, flow_in=flow, dtype=FLOAT)


def gather(handle, indices, flow, **options):
    return raw.TensorArrayGatherV3(handle=handle, indices=indices, flow_in=flow, dtype=FLOAT, **options)


def scatter(handle, indices, value, flow):
    return raw.TensorArrayScatterV3(handle=handle, indices=indices, value=value, flow_in=flow)


def concat(handle, flow, **options):
    return raw.TensorArrayConcatV3(handle=handle, flow_in=flow, dtype=FLOAT, **options)


def split(handle, value, lengths, flow):
    return raw.TensorArraySplitV3(handle=handle, value=value, lengths=lengths, flow_in=flow)


@model(loops="old", x=f32([1, 2], [-3, 0.5]))
def single(x):
    a, flow = new(3, clear_after_read=False)
    flow = write(a, 0, x * 2, flow)
    flow = write(a, 2, tf.sin(x), flow)
    flow = write(a, 1, x * x, flow)
    y = read(a, 1, flow) * read(a, 2, flow) + read(a, 1, flow)
    return [y, raw.TensorArraySizeV3(handle=a, flow_in=flow)] + tf.gradients(y, x)


@model(loops="old", x=f32([[1, 2], [3, 4], [5, 6]], [[0, 1], [2, -3], [4, 5]]))
def several(x):
    a, flow = new(5, element_shape=[2])
    flow = scatter(a, [3, 0, 4], x * x, flow)
    y = gather(a, [0, 4, 3, 1], flow)
    return [y] + tf.gradients(y * y, x)


@model(loops="old", x=f32([1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1]))
def rows(x):
    a, flow = new(3, clear_after_read=False)
    flow = split(a, tf.exp(x * 0.1), tf.constant([2, 0, 4], tf.int64), flow)
    y = concat(a, flow)
    one = read(a, 2, flow)
    return [y.value, y.lengths, one] + tf.gradients([y.value * y.value, one * 3], x)


@model(loops="old", x=f32([1, 2, 3], [4, 5, 6]), n=i32(2, 0))
def growing(x, n):
    a, flow = new(n, dynamic_size=True, clear_after_read=False)
    flow = write(a, 4, x, flow)
    flow = scatter(a, [1, 6, 0, 2, 3, 5], tf.tile((x * x)[None], [6, 1]), flow)
    size = raw.TensorArraySizeV3(handle=a, flow_in=flow)
    y = concat(a, flow)
    z = gather(a, tf.range(size), flow)
    return [size, y.value, y.lengths, z] + tf.gradients([y.value * 2, z * z], x)


@model(loops="old", x=f32([1, 2], [3, 4]))
def unread(x):
    """The gradient of elements that no node reads is zero; that of repeated reads is their sum."""
    a, flow = new(3, element_shape=[2], clear_after_read=False)
    w = tf.constant([2.0, 3.0])
    flow = write(a, 0, x * w, flow)
    flow = write(a, 1, x * x, flow)
    y = read(a, 0, flow) + read(a, 0, flow) * read(a, 0, flow)
    nothing = read(a, 2, flow)
    return [y, nothing] + tf.gradients([y, nothing], [x, w])


@model(loops="old", x=f32([1, 2], [3, -1]))
def gradient_arrays(x):
    a, flow = new(2, element_shape=[2])
    flow = write(a, 1, x, flow)
    g = raw.TensorArrayGradV3(handle=a, flow_in=flow, source="mine")
    once = write(g.grad_handle, 1, x * 2, g.flow_out)
    same = raw.TensorArrayGradV3(handle=a, flow_in=once, source="mine")
    both = write(same.grad_handle, 1, x * 3, same.flow_out)
    other = raw.TensorArrayGradV3(handle=a, flow_in=both, source="other")
    wide = raw.TensorArrayGradWithShape(handle=a, flow_in=other.flow_out, shape_to_prepend=[3], source="wide")
    more = write(wide.grad_handle, 0, tf.tile(x[None], [3, 1]), wide.flow_out)
    return [read(g.grad_handle, 1, both), read(g.grad_handle, 0, both), read(other.grad_handle, 1, other.flow_out),
            read(wide.grad_handle, 0, more), read(wide.grad_handle, 1, more),
            raw.TensorArraySizeV3(handle=wide.grad_handle, flow_in=more)]


@model(loops="old", producer=20, x=f32([[1, 2], [3, 4]]),
       fails=[{"x": f32([1, 2], [3, 4], [5, 6])}])
def second_generation(x):
    a = raw.TensorArrayV2(size=2, dtype=FLOAT, clear_after_read=False)
    flow = raw.TensorArrayScatterV2(handle=a, indices=tf.range(tf.shape(x)[0]), value=x, flow_in=tf.constant(0.0))
    handle = tf.identity(a)
    y = raw.TensorArrayReadV2(handle=handle, index=1, flow_in=flow, dtype=FLOAT)
    z = raw.TensorArrayGatherV2(handle=a, indices=[1, 0], flow_in=flow, dtype=FLOAT)
    rows = raw.TensorArrayConcatV2(handle=a, flow_in=flow, dtype=FLOAT)
    g = raw.TensorArrayGradV2(handle=a, flow_in=flow, source="g")
    out = raw.TensorArraySplitV2(handle=g, value=rows.value, lengths=rows.lengths, flow_in=flow)
    out = raw.TensorArrayWriteV2(handle=g, index=0, value=rows.value[:2], flow_in=out)
    return [y, z, rows.value, raw.TensorArraySizeV2(handle=a, flow_in=flow),
            raw.TensorArrayReadV2(handle=g, index=0, flow_in=out, dtype=FLOAT)]


@model(loops="old", producer=10, x=f32([[1, 2], [3, 4]]))
def first_generation(x):
    """References, as TensorFlow first wrote them; new binaries run the remaining ops."""
    def node(op, inputs, outputs, **attrs):
        graph = v1.get_default_graph()
        made = {}
        for name, value in attrs.items():
            attr = v1.AttrValue()
            if isinstance(value, tf.DType):
                attr.type = value.as_datatype_enum
            elif isinstance(value, bool):
                attr.b = value
            made[name] = attr
        found = graph.create_op(op, inputs, outputs, attrs=made, name=op)
        return found.outputs[0] if found.outputs else found

    text = tf.as_dtype(tf.string)._as_ref
    a = node("TensorArray", [tf.constant(2)], [text], dtype=FLOAT, clear_after_read=False)
    start = tf.constant(0.0)
    flow = node("TensorArrayWrite", [a, tf.constant(0), x[0], start], [FLOAT], T=FLOAT)
    flow = node("TensorArrayWrite", [a, tf.constant(1), x[1] * 2, flow], [FLOAT], T=FLOAT)
    y = node("TensorArrayRead", [a, tf.constant(1), flow], [FLOAT], dtype=FLOAT)
    z = node("TensorArrayGather", [a, tf.constant([1, 0, 1]), flow], [FLOAT], dtype=FLOAT)
    return [y, z, node("TensorArraySize", [a, flow], [tf.int32])]


@model(loops="old", x=f32([1, 2], [3, 4]), fails=[{"x": f32(1, 2, 3)}])
def stacks(x):
    s = raw.StackV2(max_size=2, elem_type=FLOAT)
    one = raw.StackPushV2(handle=s, elem=x * 2)
    with tf.control_dependencies([one]):
        two = raw.StackPushV2(handle=s, elem=x + 1, swap_memory=True)
    with tf.control_dependencies([two]):
        last = raw.StackPopV2(handle=s, elem_type=FLOAT)
    with tf.control_dependencies([last]):
        three = raw.StackPushV2(handle=s, elem=tf.ensure_shape(last * x, [2]))
    with tf.control_dependencies([three]):
        end = raw.StackPopV2(handle=s, elem_type=FLOAT)
    with tf.control_dependencies([end]):
        start = raw.StackPopV2(handle=s, elem_type=FLOAT)
    with tf.control_dependencies([start]):
        closed = raw.StackCloseV2(handle=s)
    with tf.control_dependencies([closed]):
        return [one, two, last, three, end, start]


@model(kind=i32(0), fails=[{"kind": np.int32(i)} for i in range(1, 14)])
def errors(kind):
    """Each kind of mistake."""
    x = tf.constant([1.0, 2.0])

    def array(size=2, **options):
        return new(size, **options)

    def read_twice():
        a, flow = array()
        flow = write(a, 0, x, flow)
        first = read(a, 0, flow)
        with tf.control_dependencies([first]):
            return read(a, 0, flow)

    def written(index, value=x, times=1, **options):
        a, flow = array(**options)
        for _ in range(times):
            flow = write(a, index, value, flow)
        return read(a, index, flow)

    def written_after_reading():
        a, flow = array(clear_after_read=False)
        flow = write(a, 0, x, flow)
        first = read(a, 0, flow)
        with tf.control_dependencies([first]):
            flow = write(a, 0, x, flow)
        return read(a, 0, flow)

    def closed():
        a, flow = array()
        with tf.control_dependencies([raw.TensorArrayCloseV3(handle=a)]):
            return read(a, 0, write(a, 0, x, flow))

    def split_too_many():
        a, flow = array()
        return read(a, 0, split(a, x, tf.constant([1, 0, 1], tf.int64), flow))

    def split_too_much():
        a, flow = array()
        return read(a, 0, split(a, x, tf.constant([1, 2], tf.int64), flow))

    def different_shapes():
        a, flow = array()
        flow = write(a, 1, x[:1], write(a, 0, x, flow))
        return gather(a, [0, 1], flow)

    def popped():
        return raw.StackPopV2(handle=raw.StackV2(max_size=-1, elem_type=FLOAT), elem_type=FLOAT)

    cases = [lambda: written(0), lambda: written(2), lambda: written(-1), lambda: written(0, times=2), read_twice,
             written_after_reading, lambda: written(0, v1.placeholder_with_default(x, None), element_shape=[3]), lambda: read(*(array()[0], 1, array()[1])),
             closed, split_too_many, split_too_much, different_shapes, popped, lambda: written(0, size=-1)]
    return [tf.switch_case(kind, cases)]


errors_of_v2 = models.pop("array_errors")


@model(x=f32([[1, 2], [3, 4], [5, 6]], [[0, 1], [1, 0], [-2, 2]]))
def captured(x):
    """A loop that writes to an array from outside, whose handle it captures."""
    a, flow = new(3, element_shape=[2])
    done = tf.while_loop(lambda i, f: i < 3, lambda i, f: (i + 1, write(a, i, x[i] * x[2 - i], f)), [0, flow])
    return [gather(a, tf.range(3), done[1])]


@model(x=f32([[1, 2], [3, 4], [5, 6]], [[0, 1], [1, 0], [-2, 2]]))
def carried(x):
    """Handles as loop variables: one is read and one written in each iteration."""
    a, flow = new(3, element_shape=[2])
    flow = scatter(a, [0, 1, 2], tf.sin(x), flow)
    b, out = new(0, dynamic_size=True, element_shape=[2])

    def turn(i, state, a, b, out):
        state = tf.ensure_shape(state * 0.5 + read(a, i, flow), [2])
        return i + 1, state, a, b, write(b, i, state * state, out)

    done = tf.while_loop(lambda i, *_: i < 3, turn, [0, tf.zeros([2]), a, b, out])
    y = gather(b, tf.range(3), done[4], element_shape=[2])
    return [done[1], y]


@model(x=f32([1, 2], [3, -4]), n=i32(0, 4))
def within(x, n):
    """An array created in each iteration."""
    def turn(i, total):
        a, flow = new(2, element_shape=[2])
        flow = write(a, 0, total * 0.5, flow)
        flow = write(a, 1, x * tf.cast(i, FLOAT), flow)
        return i + 1, tf.ensure_shape(read(a, 0, flow) + read(a, 1, flow), [2])

    return [tf.while_loop(lambda i, t: i < n, turn, [0, tf.ones([2])])[1]]


@model(x=f32([1, 2], [-3, 1]))
def branches(x):
    a, flow = new(2, element_shape=[2], clear_after_read=False)
    flow = write(a, 0, x, flow)
    flow = tf.cond(tf.reduce_sum(x) > 0, lambda: write(a, 1, x * x, flow), lambda: write(a, 1, -x, flow))
    return [gather(a, [0, 1], flow)]


@model(x=f32([[1, 2], [3, 4]], [[0, 1], [1, 0]]))
def called(x):
    """Handles as arguments and results of functions."""
    @tf.function
    def fill(a, flow, x):
        return a, write(a, 1, x[0], write(a, 0, x[1], flow))

    a, flow = new(2, element_shape=[2])
    a, flow = fill(a, flow, x * x)
    y = gather(a, [0, 1], flow)
    return [y]


# Loops of TensorFlow 1, with their gradients: stacks keep the values for the way back.


@model(loops="old", x=f32([[1, 2], [3, 4], [5, 6]], [[0, 1], [1, 0], [-2, 2]]))
def old_loop(x):
    a, flow = new(3, element_shape=[2])
    done = v1.while_loop(lambda i, f: i < 3, lambda i, f: (i + 1, write(a, i, x[i] * x[2 - i], f)), [0, flow])
    y = gather(a, tf.range(3), done[1])
    return [y] + tf.gradients(y * y, x)


@model(loops="old", x=f32(np.linspace(-1, 1, 24).reshape(4, 2, 3)), lengths=i32([4, 2]))
def old_recurrent(x, lengths):
    w = tf.constant(np.linspace(-0.4, 0.6, 21, dtype=np.float32).reshape(7, 3))
    inputs = tf.TensorArray(FLOAT, 4, element_shape=[2, 3]).unstack(x)
    outputs = tf.TensorArray(FLOAT, 4, element_shape=[2, 3])

    def turn(t, h, outputs):
        now = tf.tanh(tf.concat([inputs.read(t), h, tf.ones([2, 1])], 1) @ w)
        now = tf.ensure_shape(tf.where((t < lengths)[:, None], now, h), [2, 3])
        return t + 1, now, outputs.write(t, now)

    _, last, outputs = v1.while_loop(lambda t, *_: t < 4, turn, [0, tf.zeros([2, 3]), outputs])
    y = outputs.stack()
    return [last, y] + tf.gradients([last, y * y], [x, w])


@model(loops="old", x=f32([1, 2], [3, -1]), n=i32(3, 1))
def old_nested(x, n):
    """An array created in each iteration of a loop, and filled by an inner loop."""
    def turn(i, total):
        a, flow = new(2, element_shape=[2])
        done = v1.while_loop(lambda j, f: j < 2,
                             lambda j, f: (j + 1, write(a, j, total * x + tf.cast(j, FLOAT), f)), [0, flow])
        return i + 1, tf.ensure_shape(tf.tanh(read(a, 0, done[1]) * read(a, 1, done[1])), [2])

    y = v1.while_loop(lambda i, t: i < n, turn, [0, tf.ones([2])])[1]
    return [y] + tf.gradients(y, x)


models["array_errors"] = errors_of_v2
