"""A task, or the coordinator, of TensorFlow's parameter-server strategy: JOB NUMBER CLUSTER DATA LINES CHECKPOINT

The coordinator ends when a parameter server is lost: it must be restarted, and continues from its checkpoint."""

import json
import os
import sys
import threading
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["GRPC_FAIL_FAST"] = "use_caller"  # as in TensorFlow's guide

import tensorflow as tf  # noqa: E402

from steps import CHECKPOINT_SECONDS, PACE, rows_of, say  # noqa: E402

WORKERS = 4


def coordinate(cluster, data, lines, checkpoint):
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
        tf.train.ClusterSpec(cluster), rpc_layer="grpc", task_type="chief", task_id=0)
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    x, y = (tf.constant(part) for part in rows_of(data))
    x = tf.cast(x, tf.float32)
    with strategy.scope():
        weights = [tf.Variable(tf.random.stateless_uniform(dims, [1, i], -0.2, 0.2)) for i, dims in
                   enumerate([[64, 128], [128], [128, 10], [10]])]
        count = tf.Variable(0, dtype=tf.int64)
    saver = tf.train.Checkpoint(count=count, **{f"w{i}": one for i, one in enumerate(weights)})
    manager = tf.train.CheckpointManager(saver, checkpoint, 3)
    if manager.latest_checkpoint:
        saver.restore(manager.latest_checkpoint)

    @tf.function
    def train():
        at = tf.random.uniform([32], 0, tf.shape(y)[0], tf.int32)
        images, labels = tf.gather(x, at), tf.gather(y, at)
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(images @ weights[0] + weights[1])
            logits = hidden @ weights[2] + weights[3]
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        for one, gradient in zip(weights, tape.gradient(loss, weights)):
            one.assign_sub(0.05 * gradient)
        count.assign_add(1)
        return loss

    # There are as many concurrent steps as workers: each thread runs one, and pauses after it.
    failed = threading.Event()

    def drive(number):
        try:
            while not failed.is_set():
                time.sleep(PACE)
                coordinator.schedule(train).fetch()
                say(lines, "step", replica=number, step=0)
        except Exception as why:  # a parameter server is lost
            say(lines, "failed", text=str(why)[:300])
            failed.set()
    for number in range(WORKERS):
        threading.Thread(target=drive, args=[number], daemon=True).start()
    say(lines, "started", pid=os.getpid())
    while not failed.wait(CHECKPOINT_SECONDS):
        try:
            manager.save()
        except Exception as why:
            say(lines, "failed", text=str(why)[:300])
            break
    os._exit(1)


def main(job, number, cluster, *rest):
    cluster = json.loads(cluster)
    if job == "chief":
        return coordinate(cluster, *rest)
    config = tf.compat.v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=2)
    server = tf.distribute.Server(tf.train.ClusterSpec(cluster), job_name=job, task_index=int(number), config=config,
                                  protocol="grpc")
    print("ready", flush=True)
    return server.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
