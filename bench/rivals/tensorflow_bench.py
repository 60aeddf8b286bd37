"""TensorFlow on the graphs of troupe_bench. Modes: `callable` is a graph in a session; `executor`
the same with TensorFlow's single-threaded executor; `function` is tf.function."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import measure
from measure import Step

PIXELS, CLASSES = 784, 10


def make_cases(threads):
    import numpy as np
    import tensorflow as tf
    from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2
    v1 = tf.compat.v1

    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)

    def config(as_written=False, single_threaded=False):
        made = v1.ConfigProto(intra_op_parallelism_threads=threads,
                              inter_op_parallelism_threads=threads)
        if as_written:  # null ops are to be run, not to be optimized away
            made.graph_options.rewrite_options.disable_meta_optimizer = True
            made.graph_options.optimizer_options.opt_level = -1
        if single_threaded:
            made.experimental.executor_type = "SINGLE_THREADED_EXECUTOR"
        return made

    def in_session(define, values=(), items=1, **options):
        """`define()` adds nodes and returns (feeds, fetches, targets)."""
        graph = tf.Graph()
        with graph.as_default():
            feeds, fetches, targets = define()
            initializer = v1.global_variables_initializer()
        session = v1.Session(graph=graph, config=config(**options))
        session.run(initializer)
        wanted = config_pb2.CallableOptions(feed=[x.name for x in feeds],
                                            fetch=[x.name for x in fetches],
                                            target=[x.name for x in targets])
        # What Session.make_callable returns is 1.5 times slower.
        run = session._make_callable_from_options(wanted)
        return Step((lambda: run(*values)), items)

    # Null ops.

    def chain(length):
        last = tf.no_op()
        for _ in range(length - 1):
            with tf.control_dependencies([last]):
                last = tf.no_op()
        return last

    def null_ops(chains, length, **options):
        def define():
            ends = [chain(length) for _ in range(chains)]
            return [], [], [ends[0] if chains == 1 else tf.group(*ends)]
        return in_session(define, items=chains * length, as_written=True, **options)

    # Small steps.

    one = np.float32(1.0)

    def identity_graph():
        x = v1.placeholder(tf.float32, [])
        return [x], [tf.identity(x)], []

    def identity_function():
        run = tf.function(tf.identity, input_signature=[tf.TensorSpec([], tf.float32)])
        run = run.get_concrete_function()
        value = tf.constant(1.0)
        return Step(lambda: run(value))

    def feeds_graph(count):
        xs = [v1.placeholder(tf.float32, []) for _ in range(count)]
        return xs, [tf.add_n(xs)], []

    def fetches_graph(count):
        x = v1.placeholder(tf.float32, [])
        return [x], [x + float(i + 1) for i in range(count)], []

    def ten_nodes():
        x = v1.placeholder(tf.float32, [])
        with tf.control_dependencies([chain(9)]):
            return [x], [tf.identity(x)], []

    def many_callers(count):
        return measure.callers(in_session(ten_nodes, [one], as_written=True).run, count)

    # Element-wise chains and products.

    def ten_ops(x):
        x = tf.nn.relu(x * 1.01 + 0.5)
        x = tf.square(x * 0.5 - 0.25)
        return tf.abs(-(x + 0.125)) * 0.75

    def elementwise_graph(elements):
        x = v1.Variable(tf.fill([elements], 0.5), use_resource=True)
        return [], [], [ten_ops(x).op]

    def elementwise_function(elements):
        x = tf.fill([elements], 0.5)
        run = tf.function(ten_ops).get_concrete_function(x)
        return Step(lambda: run(x), elements * 10)

    def product_graph(extent):
        a, b = (v1.Variable(tf.random.uniform([extent, extent]), use_resource=True)
                for _ in range(2))
        return [], [], [tf.matmul(a, b).op]

    def product_function(extent):
        a, b = (tf.random.uniform([extent, extent]) for _ in range(2))
        run = tf.function(tf.matmul).get_concrete_function(a, b)
        return Step(lambda: run(a, b), 2 * extent**3)

    # Training steps.

    def batch_of(batch):
        random = np.random.default_rng(42)
        return (random.random([batch, PIXELS], np.float32),
                random.integers(0, CLASSES, [batch], np.int32))

    def variables_of(hidden):
        extents = [PIXELS, *hidden, CLASSES]
        return [(tf.random.truncated_normal([m, n], stddev=0.05), tf.zeros([n]))
                for m, n in zip(extents, extents[1:])]

    def loss_of(layers, images, labels):
        flow = images
        for i, (w, b) in enumerate(layers):
            flow = tf.nn.bias_add(tf.matmul(flow, w), b)
            flow = tf.nn.relu(flow) if i + 1 < len(layers) else flow
        return tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=flow))

    def training_graph(hidden):
        images = v1.placeholder(tf.float32, [None, PIXELS])
        labels = v1.placeholder(tf.int32, [None])
        layers = [(v1.Variable(w, use_resource=True), v1.Variable(b, use_resource=True))
                  for w, b in variables_of(hidden)]
        loss = loss_of(layers, images, labels)
        train = v1.train.GradientDescentOptimizer(0.01).minimize(loss)
        return [images, labels], [loss], [train]

    def training_function(hidden, batch):
        layers = [(tf.Variable(w), tf.Variable(b)) for w, b in variables_of(hidden)]
        variables = [x for layer in layers for x in layer]

        @tf.function
        def train(images, labels):
            with tf.GradientTape() as tape:
                loss = loss_of(layers, images, labels)
            for variable, gradient in zip(variables, tape.gradient(loss, variables)):
                variable.assign_sub(0.01 * gradient)
            return loss

        images, labels = (tf.constant(x) for x in batch_of(batch))
        run = train.get_concrete_function(images, labels)
        return Step(lambda: run(images, labels), batch)

    def dispatch(chains, length):
        return {"callable": lambda: null_ops(chains, length),
                "executor": lambda: null_ops(chains, length, single_threaded=True)}

    def graph(define, *values, **options):
        return {"callable": lambda: in_session(define, values, **options),
                "executor": lambda: in_session(define, values, single_threaded=True, **options)}

    def training(hidden, batch):
        return {**graph(lambda: training_graph(hidden), *batch_of(batch), items=batch),
                "function": lambda: training_function(hidden, batch)}

    cases = {
        "dispatch/chain_1000": dispatch(1, 1000),
        "dispatch/chain_100000": dispatch(1, 100_000),
        "dispatch/wide_16x1024": dispatch(16, 1024),
        "dispatch/wide_1000x100": dispatch(1000, 100),
        "run/identity": {
            **graph(identity_graph, one),
            "function": identity_function},
        "run/one_op": graph(lambda: ([], [], [tf.no_op()]), as_written=True),
    }
    for count in 10, 100:
        cases[f"run/feeds_{count}"] = graph(lambda n=count: feeds_graph(n), *[one] * count)
        cases[f"run/fetches_{count}"] = graph(lambda n=count: fetches_graph(n), one)
    for count in 1, 2, 64:
        cases[f"run/callers_{count}"] = {"callable": lambda n=count: many_callers(n)}
    for name, elements in ("1K", 1 << 10), ("32K", 1 << 15), ("1M", 1 << 20), ("16M", 1 << 24):
        cases[f"elementwise/{name}"] = {
            **graph(lambda n=elements: elementwise_graph(n), items=elements * 10),
            "function": lambda n=elements: elementwise_function(n)}
    for extent in 64, 128, 256, 512, 1024, 2048:
        cases[f"matmul/{extent}"] = {
            **graph(lambda n=extent: product_graph(n), items=2 * extent**3),
            "function": lambda n=extent: product_function(n)}
    cases["mlp/64"] = training([512, 512], 64)
    cases["mlp/1024"] = training([512, 512], 1024)
    cases["softmax_regression/64"] = training([], 64)
    return cases


if __name__ == "__main__":
    measure.main(__doc__, make_cases)
