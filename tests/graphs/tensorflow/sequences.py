"""Lists, loops over them, recurrent nets, and gradients of branches, loops and calls, of TensorFlow 2."""

import numpy as np
import tensorflow as tf

from control_flow import f32, i32, model, models

v1, raw = tf.compat.v1, tf.raw_ops
names = set(models)


@model(x=f32([[1, 2], [3, 4], [5, 6]], [[0, 1], [2, 3], [4, 5]]))
def list_ops(x):
    pairs, any_shape = tf.constant([2]), tf.constant(-1)
    all_rows = raw.TensorListFromTensor(tensor=x, element_shape=pairs)
    more = raw.TensorListPushBack(input_handle=all_rows, tensor=x[0] * 10)
    rest, last = raw.TensorListPopBack(input_handle=more, element_shape=pairs, element_dtype=tf.float32)
    set_one = raw.TensorListSetItem(input_handle=rest, index=1, item=x[2] + 1)
    longer = raw.TensorListResize(input_handle=set_one, size=5)

    def stack(list, shape=pairs):
        return raw.TensorListStack(input_handle=list, element_shape=shape, element_dtype=tf.float32)

    scattered = raw.TensorListScatterV2(tensor=x, indices=[3, 0, 1], element_shape=pairs, num_elements=5)
    old = raw.TensorListScatter(tensor=x, indices=[2, 0, 1], element_shape=pairs)
    into = raw.TensorListScatterIntoExistingList(input_handle=scattered, tensor=x[:1] * 7, indices=[4])
    reserved = raw.TensorListReserve(element_shape=pairs, num_elements=2, element_dtype=tf.float32)
    split = raw.TensorListSplit(tensor=x, element_shape=tf.constant([-1, 2]), lengths=tf.constant([1, 2], tf.int64))
    joined = raw.TensorListConcatV2(input_handle=split, element_shape=tf.constant([-1, 2]),
                                    leading_dims=tf.constant([], tf.int64), element_dtype=tf.float32)
    joined_old = raw.TensorListConcat(input_handle=split, element_dtype=tf.float32)
    both = raw.TensorListConcatLists(input_a=all_rows, input_b=more, element_dtype=tf.float32)
    return [
        last, stack(more), stack(set_one), stack(longer), stack(scattered), stack(old), stack(into), stack(reserved),
        joined.tensor, joined.lengths, joined_old.tensor, joined_old.lengths, stack(both),
        raw.TensorListGather(input_handle=more, indices=[3, 1, 3], element_shape=pairs, element_dtype=tf.float32),
        raw.TensorListGetItem(input_handle=more, index=2, element_shape=any_shape, element_dtype=tf.float32),
        raw.TensorListLength(input_handle=longer),
        raw.TensorListElementShape(input_handle=split, shape_type=tf.int64),
        raw.TensorListElementShape(input_handle=all_rows, shape_type=tf.int32)]


@model(x=f32([[1, 2], [3, 4], [5, 6]]))
def list_gradients(x):
    pairs = tf.constant([2])
    rows = raw.TensorListFromTensor(tensor=x, element_shape=pairs)
    more = raw.TensorListPushBack(input_handle=rows, tensor=tf.sin(x[0]))
    changed = raw.TensorListSetItem(input_handle=more, index=1, item=x[2] * x[0])
    rest, last = raw.TensorListPopBack(input_handle=changed, element_shape=pairs, element_dtype=tf.float32)
    stacked = raw.TensorListStack(input_handle=rest, element_shape=pairs, element_dtype=tf.float32)
    some = raw.TensorListGather(input_handle=changed, indices=[0, 3], element_shape=pairs, element_dtype=tf.float32)
    one = raw.TensorListGetItem(input_handle=changed, index=2, element_shape=pairs, element_dtype=tf.float32)
    spread = raw.TensorListScatterV2(tensor=x * x, indices=[2, 0, 1], element_shape=pairs, num_elements=4)
    back = raw.TensorListStack(input_handle=spread, element_shape=pairs, element_dtype=tf.float32)
    return [tf.gradients(y * y, x)[0] for y in (last, stacked, some, one, back)]


@model(x=f32([1, 2, 3, 4], [-1, 0.5, 2, 1]))
def mapped(x):
    y = tf.map_fn(lambda v: tf.sin(v) * v, x)
    return y, tf.gradients(y, x)[0]


@model(x=f32([1, 2, 3, 4], [-1, 0.5, 2, 1]))
def folded(x):
    left = tf.foldl(lambda a, v: a * 0.5 + v * v, x)
    right = tf.foldr(lambda a, v: tf.tanh(a) - v, x, initializer=tf.constant(0.25))
    return left, right, tf.gradients(left, x)[0], tf.gradients(right, x)[0]


@model(x=f32([[1, 2], [3, 4], [5, 6]], [[0, 1], [1, 0], [2, 2]]))
def scanned(x):
    y = tf.scan(lambda a, v: tf.sigmoid(a) + v * a, x, initializer=tf.ones([2]))
    back = tf.scan(lambda a, v: a * v, x, reverse=True)
    return y, back, tf.gradients(y, x)[0], tf.gradients(back, x)[0]


@model(x=f32([2.0], [-1.5]), n=i32(5, 0))
def power_gradient(x, n):
    x = tf.ensure_shape(x, [1])
    y = tf.while_loop(lambda i, p: i < n, lambda i, p: (i + 1, p * x), [0, tf.ones([1])])[1]
    first = tf.gradients(y, x)[0]
    return y, first


@model(x=f32([2.0], [-1.5]))
def second_order(x):
    x = tf.ensure_shape(x, [1])
    y = tf.while_loop(lambda i, p: i < 4, lambda i, p: (i + 1, p * x), [0, tf.ones([1])])[1]
    first = tf.gradients(y, x)[0]
    return first, tf.gradients(first, x)[0]


@model(x=f32([1, 2], [-3, 1]))
def branch_gradient(x):
    w = tf.constant([0.5, -2.0])
    y = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.exp(x) * w, lambda: x * x * x)
    return y, tf.gradients(y, x)[0]


@model(n=i32(0, 1, 2), x=f32([1, 2], [3, 4], [0.5, -1]))
def case_gradient(n, x):
    y = tf.switch_case(n, [lambda: tf.sin(x), lambda: x * x, lambda: tf.constant([1.0, 2.0])])
    return y, tf.gradients(y, x, unconnected_gradients="zero")[0]


@model(x=f32([1, 2], [-3, 1]))
def call_gradient(x):
    @tf.function
    def inner(x, y):
        return tf.sin(x) * y, x + y

    @tf.function
    def outer(x):
        a, b = inner(x, x * 2)
        c, d = inner(b, a)
        return c * d

    y = outer(x)
    return y, tf.gradients(y, x)[0]


@model(n=i32(0, 3, 4), x=f32([1.1], [0.9], [1.3]))
def nested_gradient(n, x):
    x = tf.ensure_shape(x, [1])

    def outer(i, s):
        inner = tf.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t * x + s), [0, tf.ones([1])])[1]
        return i + 1, s + tf.cond(tf.equal(i % 2, 0), lambda: inner * x, lambda: tf.sin(inner))

    y = tf.while_loop(lambda i, s: i < n, outer, [0, tf.zeros([1])])[1]
    return y, tf.gradients(y, x)[0]


@model(x=f32([1, 2, 3], [4, 0, -2]))
def collected(x):
    @tf.function
    def squares(x):
        out = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for i in tf.range(tf.shape(x)[0]):
            if x[i] > 0:
                out = out.write(i, x[i] * x[i])
            else:
                out = out.write(i, -x[i])
        return out.stack(), out.size()

    y, n = squares(x)
    return y, n, tf.gradients(y, x)[0]


@model(x=f32([[1, 2], [3, 4], [5, 6]]))
def arrays(x):
    a = tf.TensorArray(tf.float32, size=3, element_shape=[2], clear_after_read=False).unstack(x)
    b = tf.TensorArray(tf.float32, size=0, dynamic_size=True, infer_shape=False)
    b = b.write(0, x[:1]).write(1, x[1:])
    c = tf.TensorArray(tf.float32, size=5, element_shape=[2]).scatter([4, 0, 2], x)
    d = tf.TensorArray(tf.float32, size=2, infer_shape=False).split(tf.reshape(x, [6]), [4, 2])
    return (a.read(1), a.gather([2, 0]), a.stack(), b.concat(), c.stack(), c.size(), d.read(0), d.concat(),
            tf.gradients(c.stack() * c.stack(), x)[0], tf.gradients(b.concat() * 3.0, x)[0])


@model(x=f32(np.linspace(-1, 1, 24).reshape(4, 2, 3)), lengths=i32([4, 2]))
def recurrent_net(x, lengths):
    w = tf.constant(np.linspace(-0.4, 0.6, 21, dtype=np.float32).reshape(7, 3))

    def turn(t, h, out):
        now = tf.tanh(tf.concat([x[t], h, tf.ones([2, 1])], 1) @ w)
        now = tf.ensure_shape(tf.where((t < lengths)[:, None], now, h), [2, 3])
        return t + 1, now, out.write(t, now)

    out = tf.TensorArray(tf.float32, size=4, element_shape=[2, 3])
    _, last, out = tf.while_loop(lambda t, h, o: t < 4, turn, [0, tf.zeros([2, 3]), out])
    y = out.stack()
    return [last, y] + tf.gradients([last, y * y], [x, w])


@model(x=f32(np.linspace(-1, 1, 24).reshape(2, 4, 3)))
def lstm(x):
    weights = [np.linspace(-0.5, 0.5, 36, dtype=np.float32).reshape(3, 12),
               np.linspace(0.3, -0.6, 36, dtype=np.float32).reshape(3, 12), np.full(12, 0.1, np.float32)]

    def cell(x, h, c):
        z = x @ weights[0] + h @ weights[1] + weights[2]
        i, f, g, o = tf.split(z, 4, 1)
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
        return tf.sigmoid(o) * tf.tanh(c), c

    @tf.function
    def run(x):
        h = c = tf.zeros([2, 3])
        out = tf.TensorArray(tf.float32, 4)
        for t in tf.range(4):
            h, c = cell(x[:, t], h, c)
            h, c = tf.ensure_shape(h, [2, 3]), tf.ensure_shape(c, [2, 3])
            out = out.write(t, h)
        return tf.transpose(out.stack(), [1, 0, 2])

    y = run(x)
    return y, tf.gradients(tf.reduce_sum(y * y), x)[0]


@model(start=i32(1, 3))
def beam_search(start):
    scores = tf.constant(np.log(np.random.default_rng(3).dirichlet(np.ones(5), 5)).astype(np.float32))
    width = 3

    def turn(t, beams, total):
        following = tf.gather(scores, beams[:, -1]) + total[:, None]
        best, index = tf.math.top_k(tf.reshape(following, [-1]), width)
        beams = tf.concat([tf.gather(beams, index // 5), (index % 5)[:, None]], 1)
        return t + 1, beams, best

    def go_on(t, beams, total):
        return tf.logical_and(t < 6, tf.logical_not(tf.reduce_all(tf.equal(beams[:, -1], 0))))

    beams = tf.fill([width, 1], start)
    total = tf.constant([0.0, -1e9, -1e9])
    shapes = [tf.TensorShape([]), tf.TensorShape([width, None]), tf.TensorShape([width])]
    return tf.while_loop(go_on, turn, [0, beams, total], shape_invariants=shapes)


@model(x=f32([0.5, 2.0], [1.5, -1.0]))
def custom(x):
    @tf.custom_gradient
    def clipped(x):
        return x * x, lambda dy: tf.clip_by_value(dy * 2 * x, -1.0, 1.0)

    y = tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, clipped(v)), [0, x])[1]
    return y


@model(x=f32([2.0, 3.0], [1.0, -1.0]))
def descent(x):
    """Gradients within a loop."""
    def turn(i, v):
        loss = tf.reduce_sum((v * v - 2.0) ** 2)
        return i + 1, v - 0.02 * tf.gradients(loss, v)[0]

    return tf.while_loop(lambda i, v: i < 10, turn, [0, x])[1]


models = {name: made for name, made in models.items() if name not in names}
