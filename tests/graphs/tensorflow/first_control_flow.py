"""Branches and loops of TensorFlow 1: Switch and Merge, and frames of Enter, Exit and NextIteration."""

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import function
from tensorflow.python.ops import control_flow_ops

from control_flow import f32, i32

v1, raw = tf.compat.v1, tf.raw_ops
models = {}


def built(build):
    """Registers a function that builds a graph, and returns another that runs its steps."""

    def made(random, recorder):
        v1.disable_control_flow_v2()
        v1.disable_resource_variables()
        graph = v1.Graph()
        try:
            with graph.as_default():
                steps = build()
                init = v1.global_variables_initializer()
        finally:
            v1.enable_control_flow_v2()
            v1.enable_resource_variables()
        recorded = recorder(graph)
        used = {node.op for node in recorded.graph_def.node}
        used |= {node.op for f in recorded.graph_def.library.function for node in f.node_def}
        assert used & {"Switch", "RefSwitch", "Enter", "Merge"}, used
        recorded.step({}, [], [init.name])
        steps(recorded)
        return recorded

    models["v1_" + build.__name__] = made
    return build


def same(*fetches, **feeds):
    """All fetches for each of the lists of values."""

    def steps(recorded):
        for values in zip(*feeds.values()):
            recorded.step({name: np.asarray(each) for name, each in zip(feeds, values)}, list(fetches))

    return steps


@built
def cond():
    x = v1.placeholder(tf.float32, [None], "x")
    w = tf.constant([1.0, 2.0, 3.0])
    chosen = v1.cond(tf.reduce_sum(x) > 0, lambda: x * w + 1, lambda: tf.exp(x) - w)
    tf.identity(chosen * 2, "y")
    return same("cond/Merge", "y", x=[f32(1, 2, 3), f32(-1, 0, -2)])


@built
def nested_cond():
    x = v1.placeholder(tf.float32, [], "x")

    def inner():
        a, b = v1.cond(x > 10, lambda: (x * 2, 1), lambda: (x + 0.5, 2))
        return a + 1, b * 10

    a, b = v1.cond(x > 0, inner, lambda: v1.cond(x > -5, lambda: (-x, 3), lambda: (x * x, 4)))
    tf.identity(a, "a"), tf.identity(b, "b")
    return same("a", "b", x=[f32(20)[0], f32(3)[0], f32(-2)[0], f32(-7)[0]])


@built
def case():
    n = v1.placeholder(tf.int32, [], "n")
    arms = [(tf.equal(n, k), lambda k=k: (n * (k + 1), tf.constant("arm %d" % k))) for k in range(4)]
    value, name = v1.case(arms, default=lambda: (n - 100, tf.constant("none")), exclusive=False)
    tf.identity(value, "value"), tf.identity(name, "name")
    return same("value", "name", n=[i32(k)[0] for k in range(6)])


@built
def counting():
    n = v1.placeholder(tf.int32, [], "n")
    i, s = v1.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i * n), [0, 0])
    tf.identity(i + s, "both")
    return same("while/Exit", "while/Exit_1", "both", n=[i32(k)[0] for k in (0, 1, 10, 50)])


@built
def nested_loops():
    n = v1.placeholder(tf.int32, [], "n")

    def outer(i, total):
        _, total = v1.while_loop(lambda j, t: j <= i, lambda j, t: (j + 1, t + i * j - n), [0, total])
        return i + 1, total

    tf.identity(v1.while_loop(lambda i, t: i < n, outer, [0, 0])[1], "total")
    return same("total", n=[i32(k)[0] for k in (0, 1, 3, 8)])


@built
def cond_in_loop():
    n = v1.placeholder(tf.int32, [], "n")

    def turn(n, steps):
        n = v1.cond(tf.equal(n % 2, 0), lambda: n // 2, lambda: 3 * n + 1)
        return n, steps + 1

    tf.identity(v1.while_loop(lambda n, s: n > 1, turn, [n, 0])[1], "steps")
    return same("steps", n=[i32(k)[0] for k in (1, 6, 27)])


@built
def loop_in_cond():
    n = v1.placeholder(tf.int32, [], "n")

    def power():
        return v1.while_loop(lambda i, p: i < n, lambda i, p: (i + 1, p * 2), [0, 1])[1]

    tf.identity(v1.cond(n > 3, power, lambda: -n), "y")
    return same("y", n=[i32(k)[0] for k in (2, 3, 4, 10)])


@built
def everything_in_everything():
    n = v1.placeholder(tf.int32, [], "n")
    x = v1.placeholder(tf.float32, [None], "x")
    scale = tf.constant(0.5)

    def long(i, y):
        def inner(k, z):
            z = v1.cond(tf.reduce_sum(z) > 5, lambda: z * scale, lambda: z + tf.cast(k + i, tf.float32))
            return k + 1, z

        return v1.while_loop(lambda k, z: k < i + 1, inner, [0, y])[1]

    def turn(i, y):
        return i + 1, v1.cond(tf.equal(i % 3, 1), lambda: long(i, y), lambda: y - x)

    y = v1.cond(n > 0, lambda: v1.while_loop(lambda i, y: i < n, turn, [0, x])[1], lambda: x * 100)
    tf.identity(y, "y")
    return same("y", n=[i32(k)[0] for k in (0, 1, 2, 5, 8)], x=[f32(1, 2)] * 2 + [f32(-3, 4, 0.5)] * 3)


@built
def effects():
    """Only what a step needs changes variables, by reference and by handle."""
    up = v1.placeholder(tf.bool, [], "up")
    a = v1.get_variable("a", initializer=1.0, use_resource=False)
    b = v1.get_variable("b", initializer=1.0, use_resource=True)
    v1.cond(up, lambda: tf.group(a.assign_add(10.0), b.assign_add(1.0)), lambda: a.assign_sub(1.0).op, name="change")

    def turn(i):
        with tf.control_dependencies([a.assign(a.read_value() * 2.0)]):
            now = a.read_value()
        with tf.control_dependencies([b.assign_add(now)]):
            return i + 1

    v1.while_loop(lambda i: i < 3, turn, [0], name="turns")
    # No node needs the effect of this.
    v1.while_loop(lambda i: i < 3, lambda i: (b.assign_add(1000.0), i + 1)[1], [0], name="idle")
    two, one = v1.cond(up, lambda: (a.assign_add(0.5), tf.constant(2)), lambda: (a + 0.0, tf.constant(1)), name="pair")
    tf.identity(two, "two"), tf.identity(one, "one")

    def steps(recorded):
        look = lambda: recorded.step({}, ["a", "b/Read/ReadVariableOp"])
        for value in (True, False):
            recorded.step({"up": np.array(value)}, [], ["change/Merge"])
            look()
        recorded.step({}, ["turns/Exit"])
        look()
        recorded.step({}, ["idle/Exit"])
        look()
        for value in (True, False):
            for name in ("one", "two"):
                recorded.step({"up": np.array(value)}, [name])
                look()

    return steps


@built
def several_exits():
    x = v1.placeholder(tf.float32, [2, 2], "x")
    w = tf.constant([[0.5, 0.1], [0.2, 0.4]])
    i, y, norm, seen = v1.while_loop(
        lambda i, y, norm, seen: tf.logical_and(i < 20, norm > 0.01),
        lambda i, y, norm, seen: (i + 1, y @ w, tf.norm(y), seen | (norm < 1)),
        [0, x, 1e9, False], parallel_iterations=3)
    for name, each in (("i", i), ("y", y), ("norm", norm), ("seen", seen)):
        tf.identity(each, name)

    def steps(recorded):
        for value in (f32([1, 2], [3, 4]), f32([0, 0], [0, 0])):
            recorded.step({"x": value}, ["i", "y", "norm", "seen"])
        recorded.step({"x": f32([5, 6], [7, 8])}, ["norm"])

    return steps


@built
def invariants():
    """Inputs that a loop only reads: values, variables, and earlier updates of others."""
    n = v1.placeholder(tf.int32, [], "n")
    w = v1.get_variable("w", initializer=np.array([1, 2], np.float32), use_resource=False)
    u = v1.get_variable("u", initializer=np.array([3, 4], np.float32), use_resource=True)
    with tf.control_dependencies([w.assign_add([1.0, 1.0]), u.assign_add([0.5, 0.5])]):
        start = tf.zeros([2])

        def turn(i, y):
            return i + 1, y + w.read_value() * u.read_value() + tf.cast(n, tf.float32)

        tf.identity(v1.while_loop(lambda i, y: i < n, turn, [tf.identity(0), start])[1], "y")
    return same("y", n=[i32(k)[0] for k in (0, 2, 3)])


@built
def growing():
    n = v1.placeholder(tf.int32, [], "n")
    turn = lambda i, x: (i + 1, tf.concat([x, x[-1:] * 2], 0))
    _, x = v1.while_loop(lambda i, x: i < n, turn, [0, tf.constant([1.0])],
                         shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])
    tf.identity(x, "x")
    return same("x", n=[i32(k)[0] for k in (0, 1, 5)])


@built
def switch_alone():
    """Nodes of a branch run only if it is taken."""
    p = v1.placeholder(tf.bool, [], "p")
    x = v1.placeholder(tf.float32, [], "x")
    v = v1.get_variable("v", initializer=0.0, use_resource=False)
    no, yes = control_flow_ops.switch(x, p)
    tf.multiply(yes, 10.0, name="ten")
    with tf.control_dependencies([no]):
        v1.assign_add(v, 1.0, name="count")
    control_flow_ops.switch(x * 3, p, name="bare")
    inner_no, inner_yes = control_flow_ops.switch(yes + 1, x > 5)
    tf.identity(inner_yes, "deep"), tf.identity(inner_no, "shallow")

    def steps(recorded):
        feeds = lambda p, x: {"p": np.array(p), "x": np.float32(x)}
        recorded.step(feeds(True, 7), ["ten", "deep", "v"], by_name=["count"])
        recorded.step(feeds(True, 7), ["bare:1", "v"])
        recorded.step(feeds(False, 2), ["bare"], by_name=["count", "ten", "deep"])
        recorded.step(feeds(False, 2), ["v"])
        recorded.step(feeds(True, 4), ["shallow"], by_name=["deep"])
        for p, x, name in ((False, 1, "ten"), (True, 1, "deep"), (False, 9, "deep"), (True, 1, "bare")):
            try:
                recorded.session.run(name + ":0", {"p:0": p, "x:0": x})
            except tf.errors.InvalidArgumentError:
                recorded.fails("invalid_argument", feeds(p, x), [], [name])

    return steps


@built
def control_edges():
    p = v1.placeholder(tf.bool, [], "p")
    v = v1.get_variable("v", initializer=1.0, use_resource=False)
    w = v1.get_variable("w", initializer=1.0, use_resource=False)
    before = v1.assign(v, 5.0)

    def then():
        with tf.control_dependencies([v1.assign_add(w, v.read_value())]):
            return tf.identity(w.read_value())

    with tf.control_dependencies([before]):
        merged = v1.cond(p, then, lambda: tf.constant(-1.0))
    with tf.control_dependencies([merged]):
        after = v1.assign_add(v, w.read_value(), name="after")
    # A node that waits for a branch that is not taken still runs after a trigger.
    no, yes = control_flow_ops.switch(tf.constant(1.0), p)
    with tf.control_dependencies([tf.identity(no), tf.identity(yes)]):
        trigger = raw.ControlTrigger(name="trigger")
    with tf.control_dependencies([trigger]):
        tf.add(v, 100.0, name="triggered")
    del after

    def steps(recorded):
        for value in (True, False, True):
            recorded.step({"p": np.array(value)}, ["after"])
            recorded.step({"p": np.array(value)}, ["v", "w", "triggered"])

    return steps


@built
def references():
    """A variable itself goes through a Switch and a Merge, and is updated after it."""
    p = v1.placeholder(tf.bool, [], "p")
    v = v1.get_variable("v", initializer=2.0, use_resource=False)
    no, yes = raw.RefSwitch(data=v._variable, pred=p)
    up = v1.assign_add(yes, 3.0)
    down = v1.assign_sub(no, 0.5)
    merged = raw.RefMerge(inputs=[down, up], name="merged")
    tf.identity(merged.value_index, "index")
    v1.assign(merged.output, merged.output * 10.0, name="tenfold")

    def turn(i, x):
        changed = v1.cond(i > 1, lambda: v.assign_add(x * 0.5), lambda: v.assign_add(x))
        return i + 1, tf.identity(changed)

    tf.identity(v1.while_loop(lambda i, x: i < 4, turn, [0, 1.0])[1], "looped")

    def steps(recorded):
        for value in (True, False):
            recorded.step({"p": np.array(value)}, ["tenfold", "index"])
            recorded.step({}, ["v"])
        recorded.step({}, ["looped"])
        recorded.step({}, ["v"])

    return steps


@built
def merges():
    """Merges of three inputs, with the number of the one that arrived."""
    p = v1.placeholder(tf.bool, [], "p")
    q = v1.placeholder(tf.bool, [], "q")
    x = v1.placeholder(tf.float32, [], "x")
    no, yes = control_flow_ops.switch(x, p)
    _, q_if_not = control_flow_ops.switch(q, p)[1], control_flow_ops.switch(q, p)[0]
    no_no, no_yes = control_flow_ops.switch(no, q_if_not)
    found = control_flow_ops.merge([no_yes * 2, yes + 1, -no_no], name="found")
    tf.identity(found.value_index, "index")
    # The same predicate within its own branch.
    again = v1.cond(p, lambda: v1.cond(p, lambda: x + 1, lambda: x - 1000), lambda: v1.cond(p, lambda: x, lambda: x * 5))
    tf.identity(again, "again")

    def steps(recorded):
        for p, q in ((0, 0), (0, 1), (1, 0), (1, 1)):
            recorded.step({"p": np.array(bool(p)), "q": np.array(bool(q)), "x": np.float32(3)}, ["found", "index", "again"])

    return steps


@built
def cond_gradient():
    """Gradients read values that the forward pass has computed within a branch."""
    p = v1.placeholder(tf.bool, [], "p")
    x = v1.placeholder(tf.float32, [None], "x")
    w = v1.get_variable("w", initializer=np.array([0.5, -1.5], np.float32), use_resource=False)

    def deep():
        h = tf.tanh(x * w)
        return v1.cond(tf.reduce_sum(h) > 0, lambda: tf.exp(h) * w, lambda: h * h)

    y = v1.cond(p, deep, lambda: tf.sin(w) * x)
    loss = tf.reduce_sum(y * y)
    grad_x, grad_w = tf.gradients(loss, [x, w])
    tf.identity(loss, "loss"), tf.identity(grad_x, "grad_x"), tf.identity(grad_w, "grad_w")
    v1.train.GradientDescentOptimizer(0.1).minimize(loss, name="train")

    def steps(recorded):
        for value in ([1, 2], [3, -1], [-2, 2]):
            for p in (True, False):
                feeds = {"p": np.array(p), "x": np.array(value, np.float32)}
                recorded.step(feeds, ["loss", "grad_x", "grad_w"])
                recorded.step(feeds, [], ["train"])
                recorded.step({}, ["w"])

    return steps


@built
def moving_averages():
    """Two layers that keep averages in training and use them afterwards."""
    training = v1.placeholder(tf.bool, [], "training")
    x = v1.placeholder(tf.float32, [None, 3], "x")
    updates = []
    for layer in range(2):
        with v1.variable_scope(f"layer{layer}"):
            mean = v1.get_variable("mean", [3], initializer=v1.zeros_initializer(), trainable=False)
            now = tf.reduce_mean(x, axis=0)

            def update():
                with tf.control_dependencies([v1.assign(mean, mean * 0.9 + now * 0.1)]):
                    return tf.identity(now)

            used = v1.cond(training, lambda: now, lambda: tf.identity(mean))
            updates.append(v1.cond(training, update, lambda: tf.identity(mean)))
            x = tf.nn.relu(x - used) + 0.1
    tf.identity(x, "y")
    tf.group(*updates, name="update")

    def steps(recorded):
        for k in range(3):
            value = np.arange(6, dtype=np.float32).reshape(2, 3) * (k + 1)
            recorded.step({"training": np.array(True), "x": value}, ["y"])
            recorded.step({"training": np.array(True), "x": value}, ["y"], ["update"])
            recorded.step({"training": np.array(False), "x": value}, ["y"], ["update"])
            recorded.step({}, ["layer0/mean", "layer1/mean"])

    return steps


@built
def assertions():
    """TensorFlow 1 guards each Assert with a branch."""
    x = v1.placeholder(tf.float32, [None], "x")
    with tf.control_dependencies([v1.debugging.Assert(tf.reduce_all(x > 0), [x])]):
        y = tf.sqrt(x)

    def turn(i, y):
        with tf.control_dependencies([v1.assert_less(i, 3)]):
            return i + 1, y * 2

    _, y = v1.while_loop(lambda i, y: i < tf.size(y), turn, [0, y])
    tf.identity(y, "y")

    def steps(recorded):
        recorded.step({"x": f32(1, 4, 9)}, ["y"])
        for bad in (f32(1, -1), f32(1, 2, 3, 4)):
            try:
                recorded.session.run("y:0", {"x:0": bad})
            except tf.errors.InvalidArgumentError:
                recorded.fails("invalid_argument", {"x": bad}, [], ["y"])

    return steps


@built
def in_functions():
    """Control flow within functions of the library."""

    @function.Defun(tf.float32, tf.int32)
    def power(x, n):
        y = v1.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, tf.ensure_shape(y * x, [])), [0, tf.ones([])])[1]
        return v1.cond(y > 100, lambda: y - 100, lambda: y)

    x = v1.placeholder(tf.float32, [], "x")
    n = v1.placeholder(tf.int32, [], "n")
    tf.add(power(x, n), power(x + 1, n - 1), name="y")
    z = v1.cond(x > 2, lambda: power(x, n), lambda: x)
    tf.identity(v1.while_loop(lambda i, z: i < 2, lambda i, z: (i + 1, power(z, i + 1)), [0, z])[1], "z")
    return same("y", "z", x=[np.float32(2), np.float32(3)], n=[i32(3)[0], i32(5)[0]])


@built
def shared_condition():
    """A loop whose body needs what its condition has computed."""
    x = v1.placeholder(tf.float32, [2], "x")
    kept = []

    def condition(i, y):
        kept.append(tf.reduce_sum(y * y))
        return tf.logical_and(i < 9, kept[0] < 100.0)

    enter = [raw.Enter(data=each, frame_name="loop") for each in (tf.constant(0), x)]
    limit = raw.Enter(data=tf.constant(1.5), frame_name="loop", is_constant=True)
    merged = [control_flow_ops.merge([each, each])[0] for each in enter]
    with tf.control_dependencies([merged[0].op]):  # this puts constants into the loop
        test = raw.LoopCond(input=condition(*merged))
    switched = [control_flow_ops.switch(each, test) for each in merged]
    i, y = (tf.identity(each[1]) for each in switched)
    with tf.control_dependencies([i.op]):
        more = [i + 1, y * limit + kept[0] * 0.01]
    for each, back in zip(merged, (raw.NextIteration(data=each) for each in more)):
        each.op._update_input(1, back)
    for k, each in enumerate(switched):
        tf.identity(raw.Exit(data=each[0]), f"last_{k}")
    return same("last_0", "last_1", x=[f32(1, 2), f32(0, 0), f32(20, 0)])
