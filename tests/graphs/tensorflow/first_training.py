"""Training programs of TensorFlow 1 with loops and branches, as Optimizer.minimize builds them."""

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import control_flow_ops

v1 = tf.compat.v1
models = {}
train = v1.train


def built(build):
    """Registers a function that builds a graph; it returns the feeds of each step of training."""

    def made(random, recorder):
        v1.disable_control_flow_v2()
        v1.disable_resource_variables()
        graph = v1.Graph()
        try:
            with graph.as_default():
                feeds = build(random)
                init = v1.global_variables_initializer()
                variables = [variable.op.name for variable in v1.global_variables()]
        finally:
            v1.enable_control_flow_v2()
            v1.enable_resource_variables()
        recorded = recorder(graph)
        used = {node.op for node in recorded.graph_def.node}
        assert used & {"Switch", "Merge"}, used
        resources = "VarHandleOp" in used
        recorded.step({}, [], [init.name])
        for each in feeds:
            recorded.step(each, ["loss"], ["step"])
        recorded.step({}, [name + "/Read/ReadVariableOp" if resources else name for name in variables])
        return recorded

    models["v1_trained_" + build.__name__] = made
    return build


def weights(random, name, *shape, **more):
    value = (random.normal(size=shape) * 0.4).astype(np.float32)
    return v1.get_variable(name, initializer=value, **{"use_resource": False, **more})


def numbers(random, *shape):
    return random.normal(size=shape).astype(np.float32)


class Cell:
    """A cell for tf.nn.dynamic_rnn."""

    def __init__(self, random, name, taken, size):
        self.random, self.name, self.taken, self.size = random, name, taken, size

    def variable(self, name, *shape):
        with v1.variable_scope(self.name, reuse=v1.AUTO_REUSE):
            return weights(self.random, name, *shape)

    output_size = property(lambda self: self.size)

    def zero_state(self, batch_size, dtype):
        return tf.nest.map_structure(lambda size: tf.zeros(tf.stack([batch_size, size]), dtype), self.state_size)


class Lstm(Cell):
    state_size = property(lambda self: (self.size, self.size))

    def __call__(self, x, state, scope=None):
        c, h = state
        kernel = self.variable("kernel", self.taken + self.size, 4 * self.size)
        bias = self.variable("bias", 4 * self.size)
        i, j, f, o = tf.split(tf.nn.bias_add(tf.matmul(tf.concat([x, h], 1), kernel), bias), 4, axis=1)
        c = tf.sigmoid(f + 1.0) * c + tf.sigmoid(i) * tf.tanh(j)
        h = tf.sigmoid(o) * tf.tanh(c)
        return h, (c, h)


class Gru(Cell):
    state_size = property(lambda self: self.size)

    def __call__(self, x, h, scope=None):
        gates = self.variable("gates", self.taken + self.size, 2 * self.size)
        candidate = self.variable("candidate", self.taken + self.size, self.size)
        r, u = tf.split(tf.sigmoid(tf.matmul(tf.concat([x, h], 1), gates)), 2, axis=1)
        h = u * h + (1 - u) * tf.tanh(tf.matmul(tf.concat([x, r * h], 1), candidate))
        return h, h


def clipped(optimizer, loss):
    """As language models of TensorFlow 1 are trained."""
    gradients, variables = zip(*optimizer.compute_gradients(loss))
    gradients, _ = tf.clip_by_global_norm(gradients, 0.5)
    return optimizer.apply_gradients(zip(gradients, variables), name="step")


@built
def lstm(random):
    x = v1.placeholder(tf.float32, [2, None, 3], "x")
    y = v1.placeholder(tf.float32, [2, 4], "y")
    _, (_, h) = v1.nn.dynamic_rnn(Lstm(random, "cell", 3, 4), x, dtype=tf.float32)
    loss = tf.reduce_mean(tf.square(h - y), name="loss")
    train.GradientDescentOptimizer(0.5).minimize(loss, name="step")
    return [{"x": numbers(random, 2, length, 3), "y": numbers(random, 2, 4)} for length in (4, 1, 3)]


@built
def gru_with_lengths(random):
    x = v1.placeholder(tf.float32, [3, None, 2], "x")
    lengths = v1.placeholder(tf.int32, [3], "lengths")
    outputs, last = v1.nn.dynamic_rnn(Gru(random, "cell", 2, 3), x, sequence_length=lengths, dtype=tf.float32)
    logits = tf.matmul(last, weights(random, "out", 3, 2))
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1, 1], logits=logits)
    loss = tf.add(tf.reduce_mean(losses), tf.reduce_mean(tf.abs(outputs)), name="loss")
    clipped(train.AdamOptimizer(0.05), loss)
    return [{"x": numbers(random, 3, 4, 2), "lengths": np.array(each, np.int32)} for each in ([4, 2, 1], [3, 0, 4], [1, 1, 2])]


@built
def bidirectional(random):
    x = v1.placeholder(tf.float32, [None, 2, 2], "x")
    lengths = v1.placeholder(tf.int32, [2], "lengths")
    (there, back), _ = v1.nn.bidirectional_dynamic_rnn(
        Lstm(random, "there", 2, 2), Gru(random, "back", 2, 2), x, lengths, dtype=tf.float32, time_major=True)
    loss = tf.reduce_mean(tf.square(tf.concat([there, back], 2) - 0.5), name="loss")
    step = v1.train.get_or_create_global_step()
    rate = train.exponential_decay(0.2, step, 2, 0.5)
    train.MomentumOptimizer(rate, 0.9).minimize(loss, step, name="step")
    return [{"x": numbers(random, 3, 2, 2), "lengths": np.array(each, np.int32)} for each in ([3, 1], [2, 3], [1, 2])]


@built
def static(random):
    x = v1.placeholder(tf.float32, [3, 2, 2], "x")
    lengths = v1.placeholder(tf.int32, [2], "lengths")
    outputs, _ = v1.nn.static_rnn(Gru(random, "cell", 2, 2), tf.unstack(x), sequence_length=lengths, dtype=tf.float32)
    loss = tf.reduce_sum(tf.square(tf.add_n(outputs) - 1), name="loss")
    train.RMSPropOptimizer(0.02, momentum=0.5).minimize(loss, name="step")
    return [{"x": numbers(random, 3, 2, 2), "lengths": np.array(each, np.int32)} for each in ([3, 1], [2, 2], [1, 3])]


@built
def gates(random):
    """A power by a loop, with gradients that depend on each other in all ways."""
    x = v1.placeholder(tf.float32, [2], "x")
    steps, losses = [], []
    for gate in (train.Optimizer.GATE_NONE, train.Optimizer.GATE_OP, train.Optimizer.GATE_GRAPH):
        w, bias = weights(random, f"w{gate}", 2), weights(random, f"bias{gate}", 2)
        power = v1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * w + bias), [0, x])[1]
        losses.append(tf.reduce_sum(tf.square(power)))
        steps.append(train.GradientDescentOptimizer(0.1).minimize(losses[-1], gate_gradients=gate))
    tf.add_n(losses, name="loss")
    tf.group(*steps, name="step")
    return [{"x": numbers(random, 2)} for _ in range(3)]


@built
def functional(random):
    """map_fn, scan and foldl."""
    x = v1.placeholder(tf.float32, [None, 2], "x")
    w = weights(random, "w", 2, 2)
    mapped = v1.map_fn(lambda row: tf.tanh(tf.linalg.matvec(w, row)), x)
    sums = v1.scan(lambda a, row: a * 0.5 + row, mapped, initializer=weights(random, "first", 2))
    last = v1.foldl(lambda a, row: a + tf.sin(row), sums)
    loss = tf.add(tf.reduce_sum(sums * sums), tf.reduce_sum(last), name="loss")
    train.AdagradOptimizer(0.1).minimize(loss, name="step")
    return [{"x": numbers(random, length, 2)} for length in (3, 1, 4)]


@built
def branch_in_loop(random):
    x = v1.placeholder(tf.float32, [3], "x")
    w, v = weights(random, "w", 3), weights(random, "v", 3)

    def turn(i, y):
        y = v1.cond(tf.reduce_sum(y) > 0, lambda: y * w, lambda: v1.cond(i > 1, lambda: y - v, lambda: y * v))
        return i + 1, tf.tanh(y)

    y = v1.while_loop(lambda i, y: i < 4, turn, (0, x), maximum_iterations=10)[1]
    loss = tf.reduce_sum(tf.square(y - 1), name="loss")
    train.AdamOptimizer(0.1).minimize(loss, name="step")
    return [{"x": numbers(random, 3)} for _ in range(4)]


@built
def loop_in_branch(random):
    x = v1.placeholder(tf.float32, [2], "x")
    p = v1.placeholder(tf.bool, [], "p")
    w, v = weights(random, "w", 2), weights(random, "v", 2)

    def power():
        return v1.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * w), [0, x])[1]

    def sums():
        turn = lambda i, y: (i + 1, v1.cond(tf.reduce_sum(y) > 0, lambda: y * v, lambda: y + v * v))
        return v1.while_loop(lambda i, y: i < 2, turn, [0, x])[1]

    loss = tf.reduce_sum(tf.square(v1.cond(p, power, sums)), name="loss")
    clipped(train.MomentumOptimizer(0.1, 0.5, use_nesterov=True), loss)
    return [{"x": numbers(random, 2), "p": np.array(p)} for p in (True, False, False, True)]


@built
def recurrent_in_branch(random):
    """A layer that only some inputs pass."""
    x = v1.placeholder(tf.float32, [2, None, 2], "x")
    deep = v1.placeholder(tf.bool, [], "deep")
    first, _ = v1.nn.dynamic_rnn(Gru(random, "first", 2, 2), x, dtype=tf.float32, scope="first")

    def second():
        return v1.nn.dynamic_rnn(Gru(random, "second", 2, 2), first, dtype=tf.float32, scope="second")[0]

    y = v1.cond(deep, second, lambda: first * weights(random, "scale", 2))
    loss = tf.reduce_mean(tf.square(y - 0.3), name="loss")
    train.GradientDescentOptimizer(0.5).minimize(loss, name="step")
    return [{"x": numbers(random, 2, length, 2), "deep": np.array(deep)} for length, deep in ((3, True), (2, False), (1, True))]


@built
def nested_loops(random):
    n = v1.placeholder(tf.int32, [], "n")
    x = v1.placeholder(tf.float32, [2], "x")
    w = weights(random, "w", 2)

    def outer(i, y):
        inner = lambda j, z: (j + 1, tf.tanh(z * w + tf.cast(j, tf.float32) * 0.1))
        z = v1.while_loop(lambda j, z: j <= i, inner, [0, y])[1]
        return i + 1, v1.cond(tf.equal(i % 2, 0), lambda: z, lambda: z * w)

    y = v1.while_loop(lambda i, y: i < n, outer, [0, x], parallel_iterations=1, swap_memory=True)[1]
    loss = tf.reduce_sum(tf.square(y - 1), name="loss")
    train.GradientDescentOptimizer(0.2).minimize(loss, name="step")
    return [{"x": numbers(random, 2), "n": np.array(n, np.int32)} for n in (3, 0, 1)]


@built
def rows_in_loop(random):
    """The gradient of rows that a loop gathers has only a few rows."""
    ids = v1.placeholder(tf.int32, [None], "ids")
    table, more = weights(random, "table", 5, 2), weights(random, "more", 2, 2)

    def turn(i, h):
        row = v1.cond(ids[i] > 1, lambda: tf.gather(table, ids[i]), lambda: v1.nn.embedding_lookup(more, ids[i]))
        return i + 1, tf.tanh(h + row)

    h = v1.while_loop(lambda i, h: i < tf.size(ids), turn, [0, tf.zeros([2])])[1]
    loss = tf.reduce_sum(tf.square(h - 0.5), name="loss")
    train.GradientDescentOptimizer(0.3).minimize(loss, name="step")
    return [{"ids": np.array(each, np.int32)} for each in ([1, 3, 1], [4], [0, 2])]


@built
def by_handle(random):
    """With resource variables, and a state that is kept from step to step."""
    x = v1.placeholder(tf.float32, [1, None, 2], "x")
    cell = Gru(random, "cell", 2, 2)
    cell.variable = lambda name, *shape: weights(random, name, *shape, use_resource=True)
    state = v1.get_variable("state", initializer=np.zeros([1, 2], np.float32), trainable=False, use_resource=True)
    with v1.variable_scope("net", reuse=v1.AUTO_REUSE):
        y, last = v1.nn.dynamic_rnn(cell, x, initial_state=state.read_value())
    loss = tf.reduce_mean(tf.square(y - 0.5), name="loss")
    step = train.AdamOptimizer(0.1).minimize(loss)
    with tf.control_dependencies([step]):
        tf.group(state.assign(last), name="step")
    return [{"x": numbers(random, 1, length, 2)} for length in (3, 2, 2)]


@built
def decoder(random):
    """A loop that feeds its own outputs, by raw_rnn."""
    start = v1.placeholder(tf.float32, [2, 2], "start")
    cell = Gru(random, "cell", 2, 2)

    def turn(time, output, state, _):
        if output is None:
            return tf.zeros([2], tf.bool), start, cell.zero_state(2, tf.float32), None, None
        return time >= [3, 2], output * 2, state, output, None

    outputs, _, _ = v1.nn.raw_rnn(cell, turn)
    loss = tf.reduce_mean(tf.square(outputs.stack() - 0.5), name="loss")
    train.RMSPropOptimizer(0.05).minimize(loss, name="step")
    return [{"start": numbers(random, 2, 2)} for _ in range(3)]


@built
def between(random):
    """Nodes that a tool has put on all edges of a loop: after Enter, before Switch, and before Exit."""
    x = v1.placeholder(tf.float32, [2], "x")
    enter = [tf.raw_ops.Enter(data=each, frame_name="loop") for each in (tf.constant(0), x)]
    enter = [tf.identity(enter[0]), tf.debugging.check_numerics(enter[1], "first")]
    limit, factor = [tf.raw_ops.Enter(data=each, frame_name="loop", is_constant=True)
                     for each in (tf.constant(3), weights(random, "w", 2).read_value())]
    merged = [control_flow_ops.merge([each, each])[0] for each in enter]
    kept = [tf.identity(each) for each in merged]
    test = tf.identity(tf.raw_ops.LoopCond(input=tf.identity(kept[0] < limit)))
    switched = [control_flow_ops.switch(each, test) for each in kept]
    i, y = tf.identity(switched[0][1]), tf.stop_gradient(switched[1][1])
    with tf.control_dependencies([i.op]):
        more = [i + 1, y * factor]
    for each, back in zip(merged, (tf.raw_ops.NextIteration(data=each) for each in more)):
        each.op._update_input(1, back)
    # The last iteration waits for the Switch, as tf.tuple does, and computes with values of each iteration.
    with tf.control_dependencies([switched[0][0].op, switched[1][0].op]):
        both = tf.no_op()
    with tf.control_dependencies([both]):
        last = tf.raw_ops.IdentityN(input=[switched[0][0], tf.debugging.check_numerics(switched[1][0], "last")])
    last = [last[0], v1.Print(last[1] + kept[1] * factor, [last[0]], first_n=0)]
    exits = [tf.raw_ops.Exit(data=each) for each in last + [control_flow_ops.switch(factor, test)[0]]]
    tf.add(exits[1] + exits[2], tf.cast(exits[0], tf.float32), name="loss")
    tf.no_op("step")
    return [{"x": numbers(random, 2)} for _ in range(2)]
