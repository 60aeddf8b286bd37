"""Graphs of TensorFlow 2 with their variables, unfrozen: each trains, or changes its state, for some steps."""

import numpy as np
import tensorflow as tf

v1, raw = tf.compat.v1, tf.raw_ops
models = {}


def normal(random, *shape, scale=1.0):
    return (random.normal(size=shape) * scale).astype(np.float32)


class Builder:
    """A graph into which a model's function makes variables and calls."""

    def __init__(self, random):
        self.random = random
        self.graph = v1.Graph()
        self.variables = []

    def variable(self, value, name, **options):
        made = tf.Variable(value, name=name, **options)
        self.variables.append(made)
        return made

    def weights(self, name, *shape, scale=0.4):
        return self.variable(normal(self.random, *shape, scale=scale), name)

    def zeros_like(self, other, name, value=0.0):
        return self.variable(np.full(other.shape, value, np.float32), name)


def model(steps=4, fetches=(), targets=(), last=()):
    """Registers a function that builds a graph and returns a function that makes the feeds of a step."""

    def register(build):
        def made(random, recorder):
            builder = Builder(random)
            with builder.graph.as_default():
                feeds = build(builder)
                v1.group(*[one.initializer for one in builder.variables], name="init")
                for one in builder.variables:
                    tf.identity(one.read_value(), name="value_of_" + one.op.name)
            recorded = recorder(builder.graph)
            recorded.step({}, [], ["init"])
            for _ in range(steps):
                recorded.step(feeds() if feeds else {}, list(fetches), list(targets))
            recorded.step({}, ["value_of_" + one.op.name for one in builder.variables] + list(last))
            return recorded

        models["v2_" + build.__name__] = made
        return build

    return register


def regression(of, function, batch=6, width=3):
    """Placeholders x and y, the function called on them, and what to feed."""
    x = v1.placeholder(tf.float32, [None, width], "x")
    y = v1.placeholder(tf.float32, [None, 1], "y")
    tf.identity(function(x, y), "loss")
    truth = normal(of.random, width, 1)

    def feeds():
        some = normal(of.random, batch, width)
        return {"x": some, "y": some @ truth + np.float32(0.5)}

    return feeds


@model(fetches=["loss"])
def descent(of):
    w, b = of.weights("w", 3, 1), of.weights("b", 1)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
        for one, gradient in zip((w, b), tape.gradient(loss, (w, b))):
            one.assign_sub(0.1 * gradient)
        return loss

    return regression(of, step)


@model(fetches=["loss"])
def momentum(of):
    w = of.weights("w", 3, 1)
    speed = of.zeros_like(w, "w/momentum")

    @tf.function
    def apply(gradient):
        raw.ResourceApplyMomentum(var=w.handle, accum=speed.handle, lr=0.1, grad=gradient, momentum=0.9,
                                  use_nesterov=True, use_locking=True)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
        apply(tape.gradient(loss, w))
        return loss

    return regression(of, step)


@model(fetches=["loss"], steps=5)
def adam(of):
    hidden, out = of.weights("hidden", 3, 8), of.weights("out", 8, 1)
    every = (hidden, out)
    slots = {one.ref(): (of.zeros_like(one, one.op.name + "/m"), of.zeros_like(one, one.op.name + "/v")) for one in every}
    count = of.variable(np.int64(0), "count")

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(tf.tanh(tf.matmul(x, hidden)), out) - y))
        count.assign_add(1)
        at = tf.cast(count, tf.float32)
        for one, gradient in zip(every, tape.gradient(loss, every)):
            m, v = slots[one.ref()]
            raw.ResourceApplyAdam(var=one.handle, m=m.handle, v=v.handle, beta1_power=0.9**at, beta2_power=0.99**at,
                                  lr=0.05, beta1=0.9, beta2=0.99, epsilon=1e-6, grad=gradient)
        return loss

    return regression(of, step)


@model(fetches=["loss"])
def embedding(of):
    table = of.weights("table", 10, 4)
    squares = of.zeros_like(table, "squares", 0.1)
    words = v1.placeholder(tf.int32, [None, 3], "words")

    @tf.function
    def step(numbers):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.reduce_sum(tf.nn.embedding_lookup(table, numbers), 1) - 1.0))
        rows = tape.gradient(loss, table)
        assert isinstance(rows, tf.IndexedSlices)
        raw.ResourceSparseApplyAdagrad(var=table.handle, accum=squares.handle, lr=0.1, grad=rows.values, indices=rows.indices)
        return loss

    tf.identity(step(words), "loss")
    return lambda: {"words": of.random.permutation(9).astype(np.int32).reshape(3, 3)}


@model(fetches=["before", "after", "sum"])
def order(of):
    """Reads see the updates before them, and no later ones."""
    v = of.variable(np.float32([1, 2]), "v")
    count = of.variable(np.int32(0), "count")

    @tf.function
    def step():
        before = v.read_value()
        v.assign_add([1.0, 1.0])
        between = v * 2.0
        v.assign(between)
        v.assign_sub([0.5, 0.25])
        count.assign_add(1)
        return before, v.read_value(), tf.reduce_sum(between) + tf.cast(count, tf.float32)

    for value, name in zip(step(), ("before", "after", "sum")):
        tf.identity(value, name)


@model(fetches=["taken", "one", "shape"])
def rows(of):
    """Scattered updates, slices and gathers."""
    v = of.weights("v", 5, 4)
    n = of.variable(np.arange(6, dtype=np.int64), "n")
    where = v1.placeholder(tf.int32, [3], "where")

    @tf.function
    def step(i):
        slices = lambda scale: tf.IndexedSlices(scale * tf.ones([3, 4]), i)
        v.scatter_add(slices(0.5))
        v.scatter_sub(slices(0.25))
        v.scatter_mul(slices(1.5))
        v.scatter_div(slices(2.0))
        v.scatter_max(slices(-0.3))
        v.scatter_min(slices(0.8))
        v.scatter_update(tf.IndexedSlices(tf.ones([1, 4]), tf.constant([4])))
        v.scatter_nd_add([[0, 1], [1, 2]], [10.0, 20.0])
        v.scatter_nd_sub([[0, 1]], [4.0])
        v.scatter_nd_update([[2, 2]], [7.0])
        v[1:3, ::2].assign([[1.0, 2.0], [3.0, 4.0]])
        n[0].assign(n[0] + 5)
        n.scatter_nd_add([[1], [1]], [1, 2])
        return v.sparse_read(i), v.gather_nd([[0, 1], [4, 3]]), tf.shape(v)

    for value, name in zip(step(where), ("taken", "one", "shape")):
        tf.identity(value, name)
    return lambda: {"where": of.random.permutation(5)[:3].astype(np.int32)}


@model(fetches=["loss"])
def optimizers(of):
    """One variable for each optimizer."""
    names = "descent adagrad adagrad_da adadelta ada_max rms centered ftrl proximal proximal_adagrad add_sign power_sign".split()
    every = {name: of.weights(name, 3, 1) for name in names}

    def slot(name, kind, value=0.0):
        return of.zeros_like(every[name], f"{name}/{kind}", value).handle

    slots = {
        "adagrad": dict(accum=slot("adagrad", "accum", 0.1)),
        "adagrad_da": dict(gradient_accumulator=slot("adagrad_da", "sum"),
                           gradient_squared_accumulator=slot("adagrad_da", "squares", 0.1)),
        "adadelta": dict(accum=slot("adadelta", "accum"), accum_update=slot("adadelta", "update")),
        "ada_max": dict(m=slot("ada_max", "m"), v=slot("ada_max", "v")),
        "rms": dict(ms=slot("rms", "ms", 1.0), mom=slot("rms", "mom")),
        "centered": dict(mg=slot("centered", "mg"), ms=slot("centered", "ms", 1.0), mom=slot("centered", "mom")),
        "ftrl": dict(accum=slot("ftrl", "accum", 0.1), linear=slot("ftrl", "linear")),
        "proximal_adagrad": dict(accum=slot("proximal_adagrad", "accum", 0.1)),
        "add_sign": dict(m=slot("add_sign", "m")),
        "power_sign": dict(m=slot("power_sign", "m")),
    }
    rms = dict(lr=0.02, rho=0.9, momentum=0.5, epsilon=0.01)
    sign = dict(lr=0.02, sign_decay=0.9, beta=0.9)
    updates = {
        "descent": lambda var, grad: raw.ResourceApplyGradientDescent(var=var, alpha=0.05, delta=grad),
        "adagrad": lambda **at: raw.ResourceApplyAdagrad(lr=0.1, **at),
        "adagrad_da": lambda **at: raw.ResourceApplyAdagradDA(lr=0.1, l1=0.01, l2=0.01, global_step=tf.constant(2, tf.int64), **at),
        "adadelta": lambda **at: raw.ResourceApplyAdadelta(lr=0.9, rho=0.9, epsilon=0.01, **at),
        "ada_max": lambda **at: raw.ResourceApplyAdaMax(beta1_power=0.9, lr=0.05, beta1=0.9, beta2=0.99, epsilon=0.01, **at),
        "rms": lambda **at: raw.ResourceApplyRMSProp(**rms, **at),
        "centered": lambda **at: raw.ResourceApplyCenteredRMSProp(**rms, **at),
        "ftrl": lambda **at: raw.ResourceApplyFtrlV2(lr=0.1, l1=0.01, l2=0.01, l2_shrinkage=0.01, lr_power=-0.5, **at),
        "proximal": lambda var, grad: raw.ResourceApplyProximalGradientDescent(var=var, alpha=0.05, l1=0.01, l2=0.01, delta=grad),
        "proximal_adagrad": lambda **at: raw.ResourceApplyProximalAdagrad(lr=0.1, l1=0.01, l2=0.01, **at),
        "add_sign": lambda **at: raw.ResourceApplyAddSign(alpha=0.5, **sign, **at),
        "power_sign": lambda **at: raw.ResourceApplyPowerSign(logbase=0.7, **sign, **at),
    }

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.add_n([tf.reduce_mean(tf.square(tf.matmul(x, one) - y)) for one in every.values()])
        for (name, one), gradient in zip(every.items(), tape.gradient(loss, list(every.values()))):
            updates[name](var=one.handle, grad=gradient, **slots.get(name, {}))
        return loss

    return regression(of, step)


@model(fetches=["loss", "classes"])
def convnet(of):
    """A convolution with batch normalization, whose moving averages are variables, too."""
    kernel, dense = of.weights("filter", 3, 3, 1, 4), of.weights("dense", 4, 3)
    scale, offset = of.variable(np.ones(4, np.float32), "scale"), of.variable(np.zeros(4, np.float32), "offset")
    mean, variance = of.variable(np.zeros(4, np.float32), "mean"), of.variable(np.ones(4, np.float32), "variance")
    learned = (kernel, dense, scale, offset)
    images = v1.placeholder(tf.float32, [None, 6, 6, 1], "images")
    labels = v1.placeholder(tf.int64, [None], "labels")

    @tf.function
    def features(x, training):
        x = tf.nn.conv2d(x, kernel, 1, "SAME")
        if training:
            m, v = tf.nn.moments(x, [0, 1, 2])
            mean.assign_sub(0.1 * (mean - m))
            variance.assign_sub(0.1 * (variance - v))
        else:
            m, v = mean, variance
        x = tf.nn.relu(tf.nn.batch_normalization(x, m, v, offset, scale, 0.001))
        return tf.matmul(tf.reduce_mean(x, [1, 2]), dense)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=features(x, True))
            loss = tf.reduce_mean(losses)
        for one, gradient in zip(learned, tape.gradient(loss, learned)):
            one.assign_sub(0.2 * gradient)
        return loss, tf.argmax(features(x, False), 1)

    for value, name in zip(step(images, labels), ("loss", "classes")):
        tf.identity(value, name)
    return lambda: {"images": normal(of.random, 5, 6, 6, 1), "labels": of.random.integers(0, 3, 5)}


@model(fetches=["loss"])
def recurrent(of):
    """A cell that is called in each time step, by a function that receives the variables."""
    kernel, out = of.weights("kernel", 6, 4), of.weights("out", 4, 2)
    state = of.variable(np.zeros((2, 4), np.float32), "state", trainable=False)
    inputs = v1.placeholder(tf.float32, [2, 3, 2], "inputs")

    @tf.function
    def cell(x, h, weights):
        return tf.tanh(tf.matmul(tf.concat([x, h], 1), weights))

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            h = tf.identity(state)
            loss = 0.0
            for t in range(3):
                h = cell(x[:, t, :], h, kernel)
                loss += tf.reduce_mean(tf.square(tf.matmul(h, out) - x[:, t, :]))
        for one, gradient in zip((kernel, out), tape.gradient(loss, (kernel, out))):
            one.assign_sub(0.1 * gradient)
        state.assign(h)
        return loss

    tf.identity(step(inputs), "loss")
    return lambda: {"inputs": normal(of.random, 2, 3, 2)}


@model(fetches=["loss"], targets=["train"], last=["ready"])
def first_api(of):
    """The optimizers of TensorFlow 1 on variables given by handles, rows of which are looked up."""
    table, dense = of.weights("table", 8, 3), of.weights("dense", 3, 2)
    words = v1.placeholder(tf.int64, [None], "words")
    classes = v1.placeholder(tf.int64, [None], "classes")
    logits = tf.matmul(tf.gather(table, words), dense)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=classes, logits=logits)
    loss = tf.reduce_mean(losses, name="loss")
    count = of.variable(np.int64(0), "global_step")
    by = v1.train.MomentumOptimizer(0.3, 0.9)
    by.minimize(loss, global_step=count, name="train")
    of.variables += by.variables()
    tf.identity(raw.VarIsInitializedOp(resource=table.handle), "ready")
    return lambda: {"words": of.random.permutation(8)[:4], "classes": of.random.integers(0, 2, 4)}


@model(fetches=["total", "shape"])
def growing(of):
    """A variable of unknown shape, which changes."""
    v = of.variable(np.float32([[1, 2]]), "v", shape=tf.TensorShape([None, 2]))
    more = v1.placeholder(tf.float32, [None, 2], "more")

    @tf.function
    def step(rows):
        v.assign(tf.concat([v, rows], 0))
        return tf.reduce_sum(v, 0), tf.shape(v)

    for value, name in zip(step(more), ("total", "shape")):
        tf.identity(value, name)
    return lambda: {"more": normal(of.random, 2, 2)}


@model(fetches=["loss", "kept"])
def averages(of):
    """Functions that share variables, one of which another calls twice, after effects."""
    w = of.weights("w", 3, 1)
    average = of.variable(np.zeros((3, 1), np.float32), "average")
    count = of.variable(np.float32(0), "count")

    @tf.function
    def note():
        count.assign_add(1.0)
        average.assign_add((w - average) / count)
        return tf.norm(average)

    @tf.function
    def step(x, y):
        note()
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.abs(tf.matmul(x, w) - y))
        w.assign_sub(0.05 * tape.gradient(loss, w))
        return loss, note()

    x = v1.placeholder(tf.float32, [None, 3], "x")
    y = v1.placeholder(tf.float32, [None, 1], "y")
    for value, name in zip(step(x, y), ("loss", "kept")):
        tf.identity(value, name)
    return lambda: {"x": normal(of.random, 4, 3), "y": normal(of.random, 4, 1)}


class Keras:
    """A model of Keras whose train step runs eagerly; written as a graph that calls its function."""

    def __init__(self, random, optimizer):
        tf.keras.backend.clear_session()
        layers = tf.keras.layers
        self.random = random
        self.net = tf.keras.Sequential([layers.Input([4]), layers.Dense(5, "relu"), layers.Dense(2)])
        self.net.set_weights([normal(random, *one.shape, scale=0.5) for one in self.net.get_weights()])
        self.optimizer = optimizer
        optimizer.build(self.net.trainable_variables)

        @tf.function
        def step(x, y):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(self.net(x) - y))
            weights = self.net.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
            return loss

        self.step = step.get_concrete_function(tf.TensorSpec([None, 4]), tf.TensorSpec([None, 2]))

    def graph(self):
        """Variables with their initial values, and the function, called on placeholders."""
        graph = v1.Graph()
        body = self.step.graph.as_graph_def()
        graph_def = v1.GraphDef()
        graph_def.library.CopyFrom(body.library)
        graph_def.versions.CopyFrom(body.versions)
        graph_def.library.function.add().CopyFrom(self.step.function_def)
        inits, names = [], []
        held_by = {id(one.handle): one for one in self.variables()}
        values = [(held_by.get(id(each)) if each.dtype == tf.resource else each) for each in self.step.captured_inputs]
        values = [(each, each.numpy()) for each in values]
        call = graph_def.node.add(name="step", op="StatefulPartitionedCall")
        with graph.as_default():
            v1.placeholder(tf.float32, [None, 4], "x"), v1.placeholder(tf.float32, [None, 2], "y")
            call.input.extend(["x", "y"])
            for i, (held, value) in enumerate(values):
                if isinstance(held, tf.Tensor):
                    v1.constant(value, name=f"captured_{i}")
                    call.input.append(f"captured_{i}")
                    continue
                handle = raw.VarHandleOp(dtype=held.dtype, shape=held.shape, shared_name=f"v{i}", name=f"v{i}")
                start = v1.constant(value, name=f"start_{i}")
                inits.append(raw.AssignVariableOp(resource=handle, value=start, name=f"init_{i}"))
                v1.identity(raw.ReadVariableOp(resource=handle, dtype=held.dtype), f"value_of_v{i}")
                names.append(f"value_of_v{i}")
                call.input.append(handle.op.name)
            v1.group(*inits, name="init")
        graph_def.node.extend(graph.as_graph_def().node)
        call.attr["f"].func.name = self.step.function_def.signature.name
        call.attr["Tin"].list.type.extend(arg.type for arg in self.step.function_def.signature.input_arg)
        call.attr["Tout"].list.type.extend(arg.type for arg in self.step.function_def.signature.output_arg)
        loss = graph_def.node.add(name="loss", op="Identity", input=["step"])
        loss.attr["T"].type = tf.float32.as_datatype_enum
        whole = v1.Graph()
        with whole.as_default():
            v1.import_graph_def(graph_def, name="")
        return whole, names

    def variables(self):
        return [one.value for one in [*self.net.variables, *self.optimizer.variables]]


def keras(name, optimizer):
    def made(random, recorder):
        of = Keras(random, optimizer())
        graph, names = of.graph()
        recorded = recorder(graph)
        recorded.step({}, [], ["init"])
        for _ in range(4):
            recorded.step({"x": normal(random, 5, 4), "y": normal(random, 5, 2)}, ["loss"])
        recorded.step({}, list(names))
        return recorded

    models["v2_keras_" + name] = made


keras("sgd", lambda: tf.keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True))
keras("adam", lambda: tf.keras.optimizers.Adam(0.01))
keras("rmsprop", lambda: tf.keras.optimizers.RMSprop(0.01))
