#!/usr/bin/env python3
"""Builds models with TensorFlow and computes their results: generate.py [MODEL...], by default all.

Needs the packages of tests/ops/goldens/requirements.txt. The tests need none of them: they read the
files that this script writes. MODEL.pb.gz is a GraphDef as TensorFlow exports it. For each step N it has

    feed_N/x     a Const: the value to feed to the placeholder x
    expect_N/y   a Const: the expected value of the node y; y-1 is its output 1
    run_N        a NoOp whose control inputs are the targets of the step
    byname_N     a Const: names of more targets, without a control edge to run_N
    fails_N      a Const: the kind of the error with which the step must end
"""

import gzip
import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np
import tensorflow as tf

import arrays
import control_flow
import coordination
import first_control_flow
import first_training
import readers
import sequences
import variables

v1 = tf.compat.v1
here = pathlib.Path(__file__).resolve().parent


class Recorder:
    """Runs steps in TensorFlow, and records their feeds and results."""

    def __init__(self, graph):
        self.graph_def = graph.as_graph_def()
        self.session = v1.Session(graph=graph)
        self.steps = 0

    def constant(self, name, value):
        node = self.graph_def.node.add(name=name, op="Const")
        node.attr["dtype"].type = tf.as_dtype(value.dtype).as_datatype_enum
        node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value))

    def step(self, feeds, fetches, targets=(), by_name=()):
        """Names of placeholders and their values, names of nodes to compare and to run."""
        given = {name + ":0": value for name, value in feeds.items()}
        wanted = [name if ":" in name else name + ":0" for name in fetches]
        values = self.session.run(wanted + list(targets) + list(by_name), given)
        for name, value in feeds.items():
            self.constant(f"feed_{self.steps}/{name}", np.asarray(value))
        for name, value in zip(fetches, values):
            self.constant(f"expect_{self.steps}/{name.replace(':', '-')}", np.asarray(value))
        if by_name:
            self.constant(f"byname_{self.steps}", np.array(by_name, object))
        run = self.graph_def.node.add(name=f"run_{self.steps}", op="NoOp")
        run.input.extend("^" + name for name in targets)
        self.steps += 1
        return values

    def fails(self, kind, feeds, targets, fetches=()):
        """A step in which TensorFlow has met an error of this kind."""
        for name in fetches:
            self.constant(f"expect_{self.steps}/{name}", np.float32(0))
        for name, value in feeds.items():
            self.constant(f"feed_{self.steps}/{name}", np.asarray(value))
        self.constant(f"fails_{self.steps}", np.asarray(kind))
        self.graph_def.node.add(name=f"run_{self.steps}", op="NoOp").input.extend("^" + name for name in targets)
        self.steps += 1

    def save(self, name):
        path = here / f"{name}.pb.gz"
        with open(path, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as file:
            file.write(self.graph_def.SerializeToString(deterministic=True))
        print(f"{path.name}: {len(self.graph_def.node)} nodes, {path.stat().st_size} bytes")


def frozen(graph, outputs):
    """The graph with its variables as constants, as models are shipped."""
    with v1.Session(graph=graph) as session:
        session.run(graph.get_operation_by_name("init"))
        freeze = v1.graph_util.convert_variables_to_constants
        graph_def = freeze(session, graph.as_graph_def(), outputs)
    made = v1.Graph()
    with made.as_default():
        v1.import_graph_def(graph_def, name="")
    return made


def weights(name, *shape, scale=0.3):
    return v1.get_variable(name, shape, initializer=v1.random_normal_initializer(0, scale, len(name)))


def convnet(random):
    """Convolutions, batch normalization and pooling, as for classifying images."""
    graph = v1.Graph()
    with graph.as_default():
        v1.set_random_seed(1)
        x = v1.placeholder(tf.float32, [None, 16, 16, 3], "images")
        for i, (channels, before) in enumerate(((8, 3), (12, 8))):
            with v1.variable_scope(f"block{i}"):
                x = tf.nn.conv2d(x, weights("filter", 3, 3, before, channels), [1, 1, 1, 1], "SAME")
                x = tf.nn.bias_add(x, weights("bias", channels))
                # All moments are positive, as variances must be.
                parts = ("scale", "offset", "mean", "variance")
                numbers = [tf.abs(weights(part, channels)) + 0.5 for part in parts]
                x, _, _ = v1.nn.fused_batch_norm(x, *numbers, epsilon=0.001, is_training=False)
                x = tf.nn.relu(x)
                pool = tf.nn.max_pool2d if i == 0 else tf.nn.avg_pool2d
                x = pool(x, 2, 2, "VALID")
        x = tf.nn.depthwise_conv2d(x, weights("depthwise", 3, 3, 12, 1), [1, 1, 1, 1], "SAME")
        x = tf.nn.relu6(x)
        x = tf.reshape(x, [-1, 4 * 4 * 12])
        logits = tf.nn.bias_add(tf.matmul(x, weights("dense", 192, 10)), weights("dense_bias", 10))
        tf.nn.softmax(logits, name="probabilities")
        tf.argmax(logits, 1, name="classes")
        v1.group(v1.global_variables_initializer(), name="init")
    model = Recorder(frozen(graph, ["probabilities", "classes"]))
    for count in (4, 1):
        images = random.normal(size=(count, 16, 16, 3)).astype(np.float32)
        model.step({"images": images}, ["probabilities", "classes"])
    return model


def language(random):
    """An LSTM that predicts the next word, unrolled, with the state passed from step to step."""
    words, size, length, batch = 20, 16, 5, 3
    graph = v1.Graph()
    with graph.as_default():
        v1.set_random_seed(2)
        inputs = v1.placeholder(tf.int32, [batch, length], "inputs")
        targets = v1.placeholder(tf.int32, [batch, length], "targets")
        c = v1.placeholder(tf.float32, [batch, size], "c")
        h = v1.placeholder(tf.float32, [batch, size], "h")
        embedded = tf.nn.embedding_lookup(weights("embedding", words, size), inputs)
        kernel, bias = weights("kernel", 2 * size, 4 * size), weights("bias", 4 * size)
        outputs = []
        for t in range(length):
            gates = tf.nn.bias_add(tf.matmul(tf.concat([embedded[:, t, :], h], 1), kernel), bias)
            i, j, f, o = tf.split(gates, 4, axis=1)
            c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
            h = tf.tanh(c) * tf.sigmoid(o)
            outputs.append(h)
        together = tf.reshape(tf.stack(outputs, axis=1), [-1, size])
        logits = tf.matmul(together, weights("out", size, words)) + weights("out_bias", words)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.reshape(targets, [-1]), logits)
        tf.exp(tf.reduce_mean(losses), name="perplexity")
        tf.reshape(tf.nn.softmax(logits), [batch, length, words], name="next_word")
        tf.identity(c, "next_c"), tf.identity(h, "next_h")
        v1.group(v1.global_variables_initializer(), name="init")
    results = ["perplexity", "next_word", "next_c", "next_h"]
    model = Recorder(frozen(graph, results))
    c = h = np.zeros((batch, size), np.float32)
    for _ in range(2):
        text = random.integers(0, words, (2, batch, length), np.int32)
        _, _, c, h = model.step({"inputs": text[0], "targets": text[1], "c": c, "h": h}, results)
    return model


def training(random, pool, optimizer):
    """A small classifier with its gradients and optimizer; the losses fall equally."""
    graph = v1.Graph()
    with graph.as_default():
        v1.disable_resource_variables()
        x = v1.placeholder(tf.float32, [None, 8, 8, 1], "images")
        labels = v1.placeholder(tf.int64, [None], "labels")
        # Initial values are fed, because other implementations draw other numbers.
        initial = {"filter": (3, 3, 1, 4), "filter_bias": (4,), "dense": (64, 3), "dense_bias": (3,)}
        made = {}
        for name, shape in initial.items():
            value = (random.normal(size=shape) * 0.3).astype(np.float32)
            made[name] = v1.Variable(value, name=name, dtype=tf.float32)
        y = tf.nn.conv2d(x, made["filter"], [1, 1, 1, 1], "SAME")
        y = pool(tf.nn.relu(y + made["filter_bias"]))
        logits = tf.matmul(tf.reshape(y, [-1, 64]), made["dense"]) + made["dense_bias"]
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        decay = 1e-3 * tf.add_n([tf.nn.l2_loss(each) for each in made.values()])
        loss = tf.add(tf.reduce_mean(losses), decay, name="loss")
        optimizer().minimize(loss, global_step=v1.train.get_or_create_global_step(), name="train")
        v1.global_variables_initializer()
    model = Recorder(graph)
    model.step({}, [], ["init"])
    for _ in range(5):
        images = random.normal(size=(6, 8, 8, 1)).astype(np.float32)
        classes = (images.mean((1, 2, 3)) > 0).astype(np.int64) + (images[:, 0, 0, 0] > 0)
        model.step({"images": images, "labels": classes}, ["loss"], ["train"])
    model.step({}, [*initial, "global_step"])
    return model


def momentum(random):
    return training(random, lambda x: x[:, ::2, ::2, :],
                    lambda: v1.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True))


def adam(random):
    return training(random, lambda x: tf.nn.max_pool2d(x, 2, 2, "SAME"),
                    lambda: v1.train.AdamOptimizer(0.01))


def functions(random):
    """Functions of TensorFlow 2 that call each other, in the graph's library."""
    first = random.normal(size=(4, 5)).astype(np.float32)

    @tf.function
    def normalized(x, scale):
        return scale * (x - tf.reduce_mean(x, axis=1, keepdims=True))

    @tf.function
    def layer(x):
        y = tf.matmul(x, first)
        return normalized(tf.nn.relu(y), tf.constant(2.0)), tf.reduce_sum(y)

    graph = v1.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [None, 4], "x")
        y, total = layer(x)
        tf.identity(normalized(y, total), "y")
        tf.identity(total, "total")
    model = Recorder(graph)
    assert model.graph_def.library.function
    model.step({"x": random.normal(size=(3, 4)).astype(np.float32)}, ["y", "total"])
    return model


def tables(random):
    """Words looked up in a table that is given once, and counted in one that changes."""
    words = ["the", "quick", "brown", "fox", "jumps", "over", "lazy", "dog"]
    graph = v1.Graph()
    with graph.as_default():
        text = v1.placeholder(tf.string, [None, None], "text")
        # As tf.lookup makes them, with resources.
        initial = tf.lookup.KeyValueTensorInitializer(words, np.arange(len(words), dtype=np.int64))
        vocabulary = tf.lookup.StaticHashTable(initial, -1)
        tf.identity(vocabulary.lookup(text), "numbers")
        tf.identity(vocabulary.size(), "known")
        v1.tables_initializer("init")
        seen = tf.lookup.experimental.MutableHashTable(tf.string, tf.float32, 0.0)
        before = seen.lookup(text)
        with tf.control_dependencies([seen.insert(text, before + 1.0)]):
            tf.identity(seen.lookup(text), "seen")
            tf.identity(seen.size(), "different")
        tf.group(seen.remove(tf.constant(["the"])), name="forget")
        keys, counts = seen.export()
        tf.reduce_sum(counts, name="total")
        vectors = tf.raw_ops.MutableHashTableOfTensorsV2(
            key_dtype=tf.int64, value_dtype=tf.float32, value_shape=[3], use_node_name_sharing=True)
        rows = random.normal(size=(4, 3)).astype(np.float32)
        tf.group(tf.raw_ops.LookupTableInsertV2(
            table_handle=vectors, keys=np.arange(4), values=rows), name="embed")
        tf.raw_ops.LookupTableFindV2(table_handle=vectors, keys=vocabulary.lookup(text),
                                     default_value=[0.0, 0.0, 0.0], name="embedded")
        # As graphs of TensorFlow 1 have them, with references.
        old = tf.raw_ops.HashTable(key_dtype=tf.string, value_dtype=tf.string, name="old")
        tf.group(tf.raw_ops.InitializeTable(
            table_handle=old, keys=["fox", "dog"], values=["animal", "pet"]), name="init_old")
        tf.raw_ops.LookupTableFind(table_handle=old, keys=text, default_value="?", name="kinds")
        changes = tf.raw_ops.MutableHashTable(key_dtype=tf.string, value_dtype=tf.float32, name="changes")
        tf.group(tf.raw_ops.LookupTableImport(table_handle=changes, keys=keys, values=counts), name="copy")
        tf.raw_ops.LookupTableFind(table_handle=changes, keys=text, default_value=-1.0, name="copied")
        tf.raw_ops.LookupTableSize(table_handle=changes, name="copies")
    model = Recorder(graph)
    model.step({}, [], ["init", "init_old", "embed"])
    some = np.array([["the", "quick"], ["fox", "sleeps"]], object)
    model.step({"text": some}, ["numbers", "known", "embedded", "kinds"])
    model.step({"text": some}, ["seen", "different"])
    model.step({"text": some[:1]}, ["seen", "different", "numbers"])
    model.step({}, [], ["forget"])
    model.step({}, ["total"], ["copy"])
    model.step({"text": some}, ["copied", "copies"])
    return model


models = {each.__name__: each
          for each in (convnet, language, momentum, adam, functions, tables)}
models |= {name: (lambda random, build=build: build(random, Recorder))
           for name, build in (variables.models | coordination.models | control_flow.models
                               | first_control_flow.models | first_training.models | readers.models
                               | sequences.models).items()}
models |= {name: (lambda random, build=build: build(random, Recorder)) for name, build in arrays.models.items()}

if __name__ == "__main__":
    for chosen in sys.argv[1:] or models:
        models[chosen](np.random.default_rng(1)).save(chosen)
