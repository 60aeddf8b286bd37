"""Coordination of steps in TensorFlow: queues, accumulators, barriers and staging areas, over several steps."""

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import data_flow_ops

v1, raw = tf.compat.v1, tf.raw_ops


def queues(random, recorder):
    """The four kinds of queues, by the names of both generations."""
    graph = v1.Graph()
    with graph.as_default():
        value = v1.placeholder(tf.float32, [None], "value")
        fifo = v1.FIFOQueue(10, [tf.float32, tf.int32], shapes=[[], [2]], name="fifo")
        pairs = np.arange(8, dtype=np.int32).reshape(4, 2)
        fifo.enqueue_many([value, pairs], name="put")
        one = fifo.dequeue(name="one")
        some = fifo.dequeue_many(2, name="some")
        rest = fifo.dequeue_up_to(5, name="rest")
        for name, of in ("one", one), ("some", some), ("rest", rest):
            tf.identity(of[0], name + "_value")
            tf.identity(of[1], name + "_pair")
        tf.identity(fifo.size(), "size")
        tf.identity(fifo.is_closed(), "closed")
        fifo.close(name="close")
        shuffled = v1.RandomShuffleQueue(10, 0, [tf.float32], shapes=[[]], seed=3, name="shuffled")
        shuffled.enqueue_many([value], name="put_shuffled")
        tf.identity(tf.sort(shuffled.dequeue_many(4)), "all_four")
        tf.identity(shuffled.size(), "left")
        padded = v1.PaddingFIFOQueue(10, [tf.float32], shapes=[[None, 2]], name="padded")
        padded.enqueue([tf.reshape(value, [-1, 2])], name="put_padded")
        tf.identity(padded.dequeue_many(2), "filled")
        first = v1.PriorityQueue(10, [tf.float32], shapes=[[]], name="first")
        first.enqueue_many([tf.constant([3, 1, 3, 2], tf.int64), value], name="put_first")
        order = first.dequeue_many(4)
        tf.identity(order[0], "priorities")
        tf.identity(order[1], "by_priority")
        old = raw.FIFOQueue(component_types=[tf.float32], capacity=4, name="old")
        raw.QueueEnqueue(handle=old, components=[value], name="put_old")
        tf.identity(raw.QueueDequeue(handle=old, component_types=[tf.float32])[0], "get_old")
        raw.QueueSize(handle=old, name="size_old")
    of = recorder(graph)
    feed = {"value": np.array([4, 3, 2, 1], np.float32)}
    of.step(feed, [], ["put"])
    of.step({}, ["one_value", "one_pair"])
    of.step({}, ["size"])
    of.step({}, ["some_value", "some_pair"])
    of.step(feed, [], ["put"])
    of.step({}, ["closed"], [])
    of.step({}, [], ["close"])
    of.step({}, ["rest_value", "rest_pair"])
    of.step({}, ["closed", "size"])
    of.step(feed, [], ["put_shuffled"])
    of.step({}, ["all_four"])
    of.step({}, ["left"])
    of.step(feed, [], ["put_padded"])
    of.step({"value": np.array([9, 8], np.float32)}, [], ["put_padded"])
    of.step({}, ["filled"])
    of.step(feed, [], ["put_first"])
    of.step({}, ["priorities", "by_priority"])
    of.step(feed, [], ["put_old"])
    of.step({}, ["size_old"])
    of.step({}, ["get_old"])
    return of


def coordination(random, recorder):
    """Accumulators, dense and sparse; a barrier; staging areas."""
    graph = v1.Graph()
    with graph.as_default():
        gradient = v1.placeholder(tf.float32, [2], "gradient")
        of_step = v1.placeholder(tf.int64, [], "of_step")
        for kind in "MEAN", "SUM":
            dense = v1.ConditionalAccumulator(tf.float32, shape=[2], reduction_type=kind, name=kind)
            dense.apply_grad(gradient, of_step, name="add_" + kind)
            tf.identity(dense.take_grad(2), "take_" + kind)
            tf.identity(dense.num_accumulated(), "count_" + kind)
            dense.set_global_step(5, name="set_" + kind)
        rows = v1.placeholder(tf.int64, [2], "rows")
        sparse = v1.SparseConditionalAccumulator(tf.float32, shape=[6], name="sparse")
        sparse.apply_grad(rows, gradient, local_step=of_step, name="add_sparse")
        indices, values, _ = sparse.take_grad(2)
        tf.identity(indices, "sparse_rows")
        tf.identity(values, "sparse_values")
        barrier = data_flow_ops.Barrier([tf.float32, tf.string], shapes=[[], []], name="barrier")
        barrier.insert_many(0, ["x", "y"], [1.0, 2.0], name="left")
        barrier.insert_many(0, ["z"], [3.0], name="left_later")
        barrier.insert_many(1, ["z", "x"], ["c", "a"], name="right")
        batches, keys, parts = barrier.take_many(2)
        tf.identity(batches, "batches")
        tf.identity(keys, "keys")
        tf.identity(parts[0], "lefts")
        tf.identity(parts[1], "rights")
        tf.identity(barrier.ready_size(), "ready")
        tf.identity(barrier.incomplete_size(), "incomplete")
        area = {"dtypes": [tf.float32, tf.int32], "shared_name": "area"}
        raw.Stage(values=[gradient, tf.constant(7)], shared_name="area", name="stage")
        out = raw.Unstage(name="out", **area)
        tf.identity(out[0], "out_gradient")
        tf.identity(out[1], "out_number")
        tf.identity(raw.StagePeek(index=1, **area)[0], "peek")
        raw.StageSize(name="staged", **area)
        by_key = {"dtypes": [tf.float32, tf.int32], "shared_name": "by_key"}
        for name, index, part in ("stage_left", 0, gradient), ("stage_right", 1, tf.constant(8)):
            raw.OrderedMapStage(key=of_step, indices=[index], values=[part], name=name, **by_key)
        key, (left, right) = raw.OrderedMapUnstageNoKey(indices=[0, 1], **by_key)
        for name, part in ("least_key", key), ("least_left", left), ("least_right", right):
            tf.identity(part, name)
        raw.OrderedMapSize(name="complete", **by_key)
        raw.OrderedMapIncompleteSize(name="parts", **by_key)
    of = recorder(graph)

    def feed(a, b, step=0):
        return {"gradient": np.array([a, b], np.float32), "of_step": np.int64(step)}

    for kind in "MEAN", "SUM":
        of.step(feed(1, 2), [], ["add_" + kind])
        of.step(feed(3, 6), [], ["add_" + kind])
        of.step({}, ["take_" + kind])
        of.step(feed(100, 100), [], ["add_" + kind])  # too late: the global step is 1
        of.step({}, ["count_" + kind])
        of.step({}, [], ["set_" + kind])
        of.step(feed(1, 1, 5), [], ["add_" + kind])
        of.step(feed(2, 1, 4), [], ["add_" + kind])
        of.step({}, ["count_" + kind])
    of.step({**feed(1, 2), "rows": np.array([1, 4])}, [], ["add_sparse"])
    of.step({**feed(3, 6), "rows": np.array([0, 4])}, [], ["add_sparse"])
    of.step({}, ["sparse_rows", "sparse_values"])
    of.step({}, [], ["left"])
    of.step({}, [], ["left_later"])
    of.step({}, ["ready", "incomplete"])
    of.step({}, [], ["right"])
    of.step({}, ["ready", "incomplete"])
    of.step({}, ["batches", "keys", "lefts", "rights"])
    of.step(feed(1, 2), [], ["stage"])
    of.step(feed(3, 4), [], ["stage"])
    of.step({}, ["peek", "staged"])
    of.step({}, ["out_gradient", "out_number"])
    of.step({}, ["staged"])
    of.step(feed(1, 2, 9), [], ["stage_left"])
    of.step({}, ["complete", "parts"])
    of.step(feed(1, 2, 9), [], ["stage_right"])
    of.step(feed(3, 4, 2), [], ["stage_left", "stage_right"])
    of.step({}, ["complete", "parts"])
    of.step({}, ["least_key", "least_left", "least_right"])
    return of


models = {each.__name__: each for each in (queues, coordination)}
