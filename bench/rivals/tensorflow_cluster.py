"""TensorFlow's distributed runtime on the steps of bench/cluster.cpp: tf.distribute.Server, a process for each task.

Modes: `client` is a session in a separate process, as in Troupe; `in_worker` a session in the worker's process, which
saves a message in each direction."""

import atexit
import json
import os
import socket
import subprocess
import sys
import threading

import measure

ROWS, WIDTH, BATCH = 1_000_000, 64, 1024


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def serve(job, number, cluster, threads):
    import tensorflow as tf
    server(tf, job, number, cluster, threads)
    print("ready", flush=True)
    sys.stdin.read()


def server(tf, job, number, cluster, threads):
    config = tf.compat.v1.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads)
    return tf.distribute.Server(tf.train.ClusterSpec(cluster), job_name=job, task_index=number, config=config)


def start_cluster(servers, threads, without_worker=False):
    """Returns the spec of a started cluster. Its processes end with this one."""
    cluster = {"worker": [f"127.0.0.1:{free_port()}"], "ps": [f"127.0.0.1:{free_port()}" for _ in range(servers)]}
    tasks = [(job, i) for job, addresses in cluster.items() for i in range(len(addresses))
             if not (without_worker and job == "worker")]
    processes = [subprocess.Popen([sys.executable, __file__, job, str(i), json.dumps(cluster), str(threads)],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                 for job, i in tasks]
    atexit.register(lambda: [process.kill() for process in processes])
    for process in processes:
        if not process.stdout.readline():
            raise RuntimeError("a task ended")
    return cluster


def make_cases(tf, threads):
    import numpy as np
    from tensorflow.core.protobuf import config_pb2
    v1 = tf.compat.v1
    local_servers = []  # servers in this process live as long as the process

    def target_of(servers, mode):
        cluster = start_cluster(servers, threads, without_worker=mode == "in_worker")
        if mode == "in_worker":
            local_servers.append(server(tf, "worker", 0, cluster, threads))
            return local_servers[-1].target
        return f"grpc://{cluster['worker'][0]}"

    def in_session(target, define, values=()):
        graph = tf.Graph()
        with graph.as_default():
            feeds, fetches, targets = define()
            initializer = v1.global_variables_initializer()
        session = v1.Session(target, graph=graph)
        session.run(initializer)
        callable_options = config_pb2.CallableOptions(feed=[x.name for x in feeds], fetch=[x.name for x in fetches],
                                                      target=[x.name for x in targets])
        try:
            run = session._make_callable_from_options(callable_options)
            run(*values)
            return lambda: run(*values)
        except (tf.errors.UnimplementedError, tf.errors.InternalError):  # not every kind of session supports it
            fed = dict(zip(feeds, values))
            return lambda: session.run([*fetches, *targets], fed)

    def null_step(servers):
        def define():
            parameters = []
            for i in range(servers):
                with tf.device(f"/job:ps/task:{i}/cpu:0"):
                    parameters.append(v1.Variable(1.0, use_resource=True))
            with tf.device("/job:worker/task:0/cpu:0"):
                update = -tf.add_n([tf.identity(parameter) for parameter in parameters])
            return [], [], [parameter.assign_add(update, read_value=False) for parameter in parameters]
        return define

    def lookups():
        parts = []
        for i in range(2):
            with tf.device(f"/job:ps/task:{i}/cpu:0"):
                parts.append(v1.Variable(tf.random.uniform([ROWS // 2, WIDTH]), use_resource=True))
        with tf.device("/job:worker/task:0/cpu:0"):
            ids = v1.placeholder(tf.int32, [BATCH])
            rows = tf.identity(v1.nn.embedding_lookup(parts, ids, partition_strategy="mod"))
        return [ids], [], [rows.op]

    def clients(count):
        target = target_of(0, "client")

        def define():
            with tf.device("/job:worker/task:0/cpu:0"):
                x = v1.placeholder(tf.float32, [])
                return [x], [-x], []
        runs = [in_session(target, define, [np.float32(1)]) for _ in range(count)]
        indices = iter(range(count))
        thread = threading.local()

        def step():
            if not hasattr(thread, "run"):
                thread.run = runs[next(indices)]
            thread.run()
        return measure.callers(step, count, 640)

    row_ids = np.random.default_rng(1).integers(0, ROWS, BATCH).astype(np.int32)
    cases = {}
    for servers in 1, 2, 4:
        cases[f"cluster/null_step_{servers}_ps"] = {
            mode: lambda n=servers, mode=mode: measure.Step(in_session(target_of(n, mode), null_step(n)))
            for mode in ("client", "in_worker")}
    cases["cluster/lookups_2_ps"] = {
        mode: lambda mode=mode: measure.Step(in_session(target_of(2, mode), lookups, [row_ids]), BATCH)
        for mode in ("client", "in_worker")}
    for count in 1, 8, 64:
        cases[f"cluster/clients_{count}"] = {"client": lambda n=count: clients(n)}
    return cases


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    serve(sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]), int(sys.argv[4]))
