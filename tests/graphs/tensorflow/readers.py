"""Input pipelines of TensorFlow 1: queues of file names, readers, decoders, batches."""

import gzip
import zlib

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import reader_base_pb2

v1, raw = tf.compat.v1, tf.raw_ops


def tfrecords(records, compression=""):
    """The bytes of such a file, as TensorFlow writes it."""
    with tf.io.gfile.GFile("/tmp/troupe_readers.tfrecord", "wb"):
        pass
    with tf.io.TFRecordWriter("/tmp/troupe_readers.tfrecord", compression) as writer:
        for one in records:
            writer.write(one)
    with open("/tmp/troupe_readers.tfrecord", "rb") as file:
        return file.read()


def example(number, text, pixels):
    def of(**kind):
        return tf.train.Feature(**kind)
    return tf.train.Example(features=tf.train.Features(feature={
        "number": of(int64_list=tf.train.Int64List(value=[number])),
        "text": of(bytes_list=tf.train.BytesList(value=[text])),
        "pixels": of(bytes_list=tf.train.BytesList(value=[bytes(pixels)])),
        "weights": of(float_list=tf.train.FloatList(value=[number, number / 2]))})).SerializeToString()


RECORDS = [b"first", b"", b"x" * 300, b"last"]
FILES = {
    "a.txt": b"head\none\ntwo\r\nthree",
    "b.txt": b"head\n\nfive\n",
    "c.bin": b"hh" + bytes(range(65, 74)) + b"ttt",
    "c.gz": gzip.compress(b"hh" + bytes(range(65, 74)) + b"ttt", mtime=0),
    "c.z": zlib.compress(b"hh" + bytes(range(65, 74)) + b"ttt"),
    "d.tfrecord": tfrecords(RECORDS),
    "d.tfrecord.gz": tfrecords(RECORDS, "GZIP"),
    "d.tfrecord.z": tfrecords(RECORDS, "ZLIB"),
    "e.tfrecord": tfrecords(example(i, b"text %d" % i, [i, i + 1, i + 2, i + 3]) for i in range(5)),
    "f.csv": b"1,2.5,one\n2,,two\n3,4.5,\"th,ree\"\n4,0.5,four\n",
}


def in_folder(folder, names):
    return tf.strings.join([folder, tf.constant(names)], "/")


def without_folder(keys):
    return tf.strings.regex_replace(keys, ".*/", "")


def with_old_names(graph):
    """The same with the first generation's ops in all nodes named `_old`, as graphs had them once."""
    graph_def = graph.as_graph_def()
    graph_def.versions.producer = 21
    for node in graph_def.node:
        if "_old" in node.name and node.op.endswith("V2"):
            node.op = node.op.removesuffix("V2")
    return imported(graph_def)


def without_summaries(graph):
    """Drops the summaries of queue sizes."""
    graph_def = graph.as_graph_def()
    kept = [node for node in graph_def.node if node.op != "ScalarSummary"]
    del graph_def.node[:]
    graph_def.node.extend(kept)
    return imported(graph_def)


def imported(graph_def):
    made = v1.Graph()
    with made.as_default():
        v1.import_graph_def(graph_def, name="")
    return made


def readers(random, recorder):
    """All kinds of readers, of both generations; their counters, and their saved state."""
    graph = v1.Graph()
    fixed = raw.FixedLengthRecordReaderV2
    around = {"header_bytes": 2, "record_bytes": 3, "footer_bytes": 3}
    kinds = {
        "whole": (raw.WholeFileReaderV2, {}, ["a.txt", "c.bin"]),
        "lines": (raw.TextLineReaderV2, {"skip_header_lines": 1}, ["a.txt", "b.txt"]),
        "fixed": (fixed, around, ["c.bin"]),
        "hops": (fixed, around | {"hop_bytes": 2}, ["c.bin", "c.bin"]),
        "jumps": (fixed, {"record_bytes": 2, "hop_bytes": 5}, ["c.bin", "c.bin"]),
        "packed": (fixed, around | {"encoding": "GZIP"}, ["c.gz"]),
        "packed_z": (fixed, around | {"encoding": "ZLIB"}, ["c.z"]),
        "records": (raw.TFRecordReaderV2, {}, ["d.tfrecord"]),
        "records_gz": (raw.TFRecordReaderV2, {"compression_type": "GZIP"}, ["d.tfrecord.gz"]),
        "records_z": (raw.TFRecordReaderV2, {"compression_type": "ZLIB"}, ["d.tfrecord.z"]),
        "identity": (raw.IdentityReaderV2, {}, ["d.tfrecord", "e"]),
    }
    asked = []
    with graph.as_default():
        folder = v1.placeholder(tf.string, [], "folder")
        writes = [raw.WriteFile(filename=in_folder(folder, name), contents=content)
                  for name, content in FILES.items()]
        tf.group(*writes, name="write")
        tf.identity(without_folder(raw.MatchingFiles(pattern=in_folder(folder, "d.*[gz]z"))), "matching")
        tf.identity(raw.ReadFile(filename=in_folder(folder, "b.txt")), "read_file")
        for kind, (make, how, files) in kinds.items():
            # TensorFlow cannot run the old reader of fixed length: it asks for an attribute of the new one.
            for name in (kind,) if make == fixed else (kind, kind + "_old"):
                reader = make(name=name, **how)
                queue = raw.FIFOQueueV2(component_types=[tf.string], name=name + "_files")
                raw.QueueEnqueueManyV2(handle=queue, components=[in_folder(folder, files)], name=name + "_put")
                raw.QueueCloseV2(handle=queue, name=name + "_close")
                both = {"reader_handle": reader, "queue_handle": queue}
                read = raw.ReaderReadV2(**both, name=name + "_read")
                some = raw.ReaderReadUpToV2(**both, num_records=2, name=name + "_read_some")
                raw.ReaderResetV2(reader_handle=reader, name=name + "_reset")
                raw.ReaderNumRecordsProducedV2(reader_handle=reader, name=name + "_records")
                raw.ReaderNumWorkUnitsCompletedV2(reader_handle=reader, name=name + "_units")
                tf.identity(without_folder(read.key), name + "_key")
                tf.identity(read.value if kind != "identity" else without_folder(read.value), name + "_value")
                tf.identity(without_folder(some.keys), name + "_keys")
                tf.identity(some.values if kind != "identity" else without_folder(some.values), name + "_values")
                asked.append(name)
        # The state of the one reader that keeps it in TensorFlow.
        names = v1.FIFOQueue(10, [tf.string], shapes=[[]], name="names")
        names.enqueue_many([["x", "y", "z"]], name="names_put")
        kept = v1.IdentityReader(name="kept")
        tf.identity(kept.read(names)[0], "kept_read")
        tf.identity(kept.serialize_state(), "state")
        kept.restore_state(reader_base_pb2.ReaderBaseState(
            work_started=9, work_finished=9, num_records_produced=7, current_work=b"w").SerializeToString(),
            name="restore")
        tf.identity(kept.num_records_produced(), "kept_records")
    of = recorder(with_old_names(graph))
    feed = {"folder": np.array(b"/tmp")}
    of.step(feed, [], ["write"])
    of.step(feed, ["matching", "read_file"])
    for name in asked:
        of.step(feed, [], [name + "_put"])
        of.step({}, [name + "_key", name + "_value"])
        of.step({}, [name + "_records", name + "_units"])
        of.step({}, [], [name + "_close"])
        while True:
            try:
                of.step({}, [name + "_keys", name + "_values"])
            except tf.errors.OutOfRangeError:
                of.fails("out_of_range", {}, [name + "_keys", name + "_values"])
                break
            of.step({}, [name + "_records", name + "_units"])
        of.step({}, [name + "_records", name + "_units"])
        of.step({}, [], [name + "_reset"])
        of.step({}, [name + "_records", name + "_units"])
    of.step({}, [], ["names_put"])
    of.step({}, ["state"])
    of.step({}, ["kept_read"])
    of.step({}, ["kept_read"])
    of.step({}, ["state"])
    of.step({}, [], ["restore"])
    of.step({}, ["state", "kept_records"])
    of.step({}, ["kept_read"])
    of.step({}, ["state", "kept_records"])
    return of


def input_program(random, recorder):
    """A program's input, whose queue runners are run by hand: producers, readers, decoders, batches."""
    graph = v1.Graph()
    with graph.as_default():
        folder = v1.placeholder(tf.string, [], "folder")
        writes = [raw.WriteFile(filename=in_folder(folder, name), contents=content)
                  for name, content in FILES.items()]
        tf.group(*writes, name="write")
        files = v1.train.string_input_producer(in_folder(folder, ["e.tfrecord"]), num_epochs=2, shuffle=False,
                                               name="files")
        _, record = v1.TFRecordReader(name="reader").read(files)
        parsed = v1.io.parse_single_example(record, {
            "number": v1.FixedLenFeature([], tf.int64), "text": v1.FixedLenFeature([], tf.string),
            "pixels": v1.FixedLenFeature([], tf.string), "weights": v1.FixedLenFeature([2], tf.float32)})
        pixels = tf.cast(tf.reshape(v1.decode_raw(parsed["pixels"], tf.uint8), [2, 2]), tf.float32) / 8
        batch = v1.train.batch([pixels, parsed["number"], parsed["text"], parsed["weights"]], 3, num_threads=1,
                               allow_smaller_final_batch=True, name="batch")
        for name, one in zip(("pixels", "numbers", "texts", "weights"), batch):
            tf.identity(one, name)
        lines = v1.train.string_input_producer(in_folder(folder, ["f.csv"]), shuffle=False, name="lines")
        _, line = v1.TextLineReader(name="line_reader").read(lines)
        columns = v1.decode_csv(line, [[0], [9.5], [""]])
        rows = v1.train.batch(columns, 2, name="rows")
        for name, one in zip(("column_a", "column_b", "column_c"), rows):
            tf.identity(one, name)
        init = v1.local_variables_initializer()
        tf.group(init, name="init")
        runners = v1.get_collection(v1.GraphKeys.QUEUE_RUNNERS)
        fill = {runner.name.split("/")[0]: runner for runner in runners}
        for name, runner in fill.items():
            tf.group(*runner.enqueue_ops[:1], name="fill_" + name)
            tf.group(runner.close_op, name="end_" + name)
    of = recorder(without_summaries(graph))
    feed = {"folder": np.array(b"/tmp")}
    of.step(feed, [], ["write"])
    of.step({}, [], ["init"])
    of.step(feed, [], ["fill_files"])
    of.step(feed, [], ["fill_files"])
    of.step({}, [], ["end_files"])
    for _ in range(10):
        of.step({}, [], ["fill_batch"])
    of.step({}, [], ["end_batch"])
    for _ in range(4):
        of.step({}, ["pixels", "numbers", "texts", "weights"])
    of.step(feed, [], ["fill_lines"])
    for _ in range(4):
        of.step({}, [], ["fill_rows"])
    for _ in range(2):
        of.step({}, ["column_a", "column_b", "column_c"])
    return of


models = {each.__name__: each for each in (readers, input_program)}
