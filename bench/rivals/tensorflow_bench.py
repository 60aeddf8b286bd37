"""TensorFlow on the graphs of troupe_bench. Modes: `callable` is a graph in a session; `executor`
the same with TensorFlow's single-threaded executor; `function` is tf.function."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import measure
import nets
import tensorflow_cluster
import tensorflow_flow
import tensorflow_input
from measure import Step
from tensorflow_nets import Net, padding_of


def make_cases(threads):
    import numpy as np
    import tensorflow as tf
    from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2
    v1 = tf.compat.v1

    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)

    def config(as_written=False, single_threaded=False):
        result = v1.ConfigProto(intra_op_parallelism_threads=threads,
                                inter_op_parallelism_threads=threads)
        if as_written:  # null ops must run, not be optimized away
            result.graph_options.rewrite_options.disable_meta_optimizer = True
            result.graph_options.optimizer_options.opt_level = -1
        if single_threaded:
            result.experimental.executor_type = "SINGLE_THREADED_EXECUTOR"
        return result

    def parameters_of(variables):
        return sum(variable.shape.num_elements() for variable in variables)

    def in_session(define, values=(), items=1, **options):
        """`define()` adds nodes and returns (feeds, fetches, targets)."""
        graph = tf.Graph()
        with graph.as_default():
            feeds, fetches, targets = define()
            initializer = v1.global_variables_initializer()
            parameters = parameters_of(v1.trainable_variables())
        session = v1.Session(graph=graph, config=config(**options))
        session.run(initializer)
        callable_options = config_pb2.CallableOptions(feed=[x.name for x in feeds],
                                                      fetch=[x.name for x in fetches],
                                                      target=[x.name for x in targets])
        # The result of Session.make_callable is 1.5 times slower.
        run = session._make_callable_from_options(callable_options)
        return Step((lambda: run(*values)), items, parameters)

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

    def queue_pairs(count):
        queue = v1.FIFOQueue(count, [tf.float32], shapes=[[]])
        value = tf.constant(1.0)
        for _ in range(count):
            with tf.control_dependencies([queue.enqueue([value])]):
                value = queue.dequeue()
        return [], [value], []

    # Small steps.

    unit = np.float32(1.0)

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
        return measure.callers(in_session(ten_nodes, [unit], as_written=True).run, count)

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

    # Ops that are bound by memory.

    def memory_bound(define):
        def inputs():
            return tf.fill([4096, 4096], 0.5), tf.fill([4096, 4096], 0.25)

        def in_graph():
            return [], [], [define(*(v1.Variable(x, use_resource=True) for x in inputs())).op]

        def in_function():
            x, y = inputs()
            run = tf.function(define).get_concrete_function(x, y)
            return Step(lambda: run(x, y))

        return {**graph(in_graph), "function": in_function}

    # Convolutions.

    def convolution(layer, part):
        size, outputs, stride = layer["size"], layer["conv"], layer.get("stride", 1)
        shape, filter_shape = layer["input"], [size, size, layer["input"][3], outputs]
        padding = padding_of(layer)
        out = tf.nn.conv2d(tf.zeros(shape), tf.zeros(filter_shape), stride, padding).shape

        def define():
            x, w, dy = (v1.Variable(numbers(dims, lambda d=dims, i=i: nets.noise(d, 1, i + 1)),
                                    use_resource=True)
                        for i, dims in enumerate([shape, filter_shape, [*out]]))
            if part == "forward":
                y = tf.nn.conv2d(x, w, stride, padding)
            elif part == "input":
                y = v1.nn.conv2d_backprop_input(shape, w, dy, [1, stride, stride, 1], padding)
            else:
                y = v1.nn.conv2d_backprop_filter(x, filter_shape, dy, [1, stride, stride, 1],
                                                 padding)
            return [], [], [y.op]

        return graph(define, items=2 * int(np.prod(out)) * int(np.prod(filter_shape[:3])))

    # Bytes: TensorFlow's kernels take only unsigned ones.

    def bytes_of(dims):
        value = np.arange(np.prod(dims)).reshape(dims) * 48271 % 251
        return tf.bitcast(v1.Variable(value.astype(np.uint8), use_resource=True), tf.quint8)

    def product_of_bytes(extent):
        def define():
            a, b = (bytes_of([extent, extent]) for _ in range(2))
            return [], [], [tf.raw_ops.QuantizedMatMul(a=a, b=b, min_a=0.0, max_a=255.0,
                                                       min_b=-128.0, max_b=127.0).out.op]
        return graph(define, items=2 * extent**3)

    def convolution_of_bytes(layer):
        size, dims = layer["size"], layer["input"]
        filter_shape = [size, size, dims[3], layer["conv"]]

        def define():
            return [], [], [tf.raw_ops.QuantizedConv2D(
                input=bytes_of(dims), filter=bytes_of(filter_shape), min_input=0.0, max_input=255.0,
                min_filter=-128.0, max_filter=127.0, strides=[1, 1, 1, 1],
                padding="SAME").output.op]
        return graph(define, items=2 * int(np.prod(dims[:3])) * int(np.prod(filter_shape)))

    # Training steps.

    def numbers(dims, compute):
        values = tf.numpy_function(compute, [], tf.float32)
        values.set_shape(dims)
        return values

    def training_graph(net):
        x, labels = (v1.placeholder(part.dtype, part.shape) for part in nets.batch(net))
        model = Net(tf, net, lambda dims, values, trainable: v1.Variable(
            numbers(dims, values), trainable=trainable, use_resource=True))
        loss = model.loss(x, labels)
        train = v1.train.GradientDescentOptimizer(nets.rate(net)).minimize(loss)
        return [x, labels], [loss], [train]

    def training_function(net):
        model = Net(tf, net, lambda dims, values, trainable: tf.Variable(values(), trainable))
        x, labels = (tf.constant(part) for part in nets.batch(net))
        model.loss(x, labels)  # creates the variables

        @tf.function
        def train(x, labels):
            with tf.GradientTape() as tape:
                loss = model.loss(x, labels)
            for variable, gradient in zip(model.variables,
                                          tape.gradient(loss, model.variables)):
                variable.assign_sub(nets.rate(net) * tf.convert_to_tensor(gradient))
            return loss

        run = train.get_concrete_function(x, labels)
        return Step(lambda: run(x, labels), labels.shape[0], parameters_of(model.variables))

    def dispatch(chains, length):
        return {"callable": lambda: null_ops(chains, length),
                "executor": lambda: null_ops(chains, length, single_threaded=True)}

    def graph(define, *values, **options):
        return {"callable": lambda: in_session(define, values, **options),
                "executor": lambda: in_session(define, values, single_threaded=True, **options)}

    def training(net):
        x, labels = nets.batch(net)
        return {**graph(lambda: training_graph(net), x, labels, items=len(labels)),
                "function": lambda: training_function(net)}

    cases = {
        "dispatch/chain_1000": dispatch(1, 1000),
        "dispatch/chain_100000": dispatch(1, 100_000),
        "dispatch/wide_16x1024": dispatch(16, 1024),
        "dispatch/wide_1000x100": dispatch(1000, 100),
        "run/identity": {
            **graph(identity_graph, unit),
            "function": identity_function},
        "queue/pairs_in_step": graph(lambda: queue_pairs(1000), items=1000),
        "run/one_op": graph(lambda: ([], [], [tf.no_op()]), as_written=True),
    }
    for count in 10, 100:
        cases[f"run/feeds_{count}"] = graph(lambda n=count: feeds_graph(n), *[unit] * count)
        cases[f"run/fetches_{count}"] = graph(lambda n=count: fetches_graph(n), unit)
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
    for name, define in {
            "elementwise/add_16M": tf.add,
            "elementwise/relu_16M": lambda x, y: tf.nn.relu(x),
            "reduce/sum_16M": lambda x, y: tf.reduce_sum(x),
            "reduce/max_16M": lambda x, y: tf.reduce_max(x),
            "reduce/rows_16M": lambda x, y: tf.reduce_sum(x, 1),
            "reduce/columns_16M": lambda x, y: tf.reduce_sum(x, 0)}.items():
        cases[name] = memory_bound(define)
    for name, layer in nets.CONVOLUTIONS.items():
        cases[f"conv2d/{name}"] = convolution(layer, "forward")
        cases[f"conv2d/{name}_input_gradient"] = convolution(layer, "input")
        cases[f"conv2d/{name}_filter_gradient"] = convolution(layer, "filter")
    for extent in 256, 1024:
        cases[f"int8/matmul_{extent}"] = product_of_bytes(extent)
    for name in "3x3_28", "1x1":
        cases[f"int8/conv2d_{name}"] = convolution_of_bytes(nets.CONVOLUTIONS[name])
    for name, net in nets.NETS.items():
        cases[name] = training(net)
    return cases | tensorflow_cluster.make_cases(tf, threads) | tensorflow_input.make_cases(tf, config) | tensorflow_flow.make_cases(tf)


if __name__ == "__main__":
    measure.main(__doc__, make_cases)
