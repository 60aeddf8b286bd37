#!/usr/bin/env python3
"""Writes the golden files of this folder, with the libraries that define the formats: generate.py [FAMILY...], by
default all.

Needs the packages of requirements.txt. The tests need none of them: they read the files that this script writes.
"""

import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np

here = pathlib.Path(__file__).resolve().parent


def safetensors():
    import ml_dtypes
    from safetensors.numpy import save_file

    save_file({
        "f32": np.arange(6, dtype=np.float32).reshape(2, 3),
        "f64": np.array(0.5),
        "f16": np.array([1, -2], np.float16),
        "bf16": np.array([1, -2], ml_dtypes.bfloat16),
        "i64": np.array([-5]),
        "i32": np.array([-4], np.int32),
        "i16": np.array([-3], np.int16),
        "i8": np.array([-2], np.int8),
        "u64": np.array([5], np.uint64),
        "u32": np.array([4], np.uint32),
        "u16": np.array([3], np.uint16),
        "u8": np.array([1, 255], np.uint8),
        "bool": np.array([True, False]),
        "empty": np.zeros((0, 3), np.float32),
        "c64": np.array([1 - 2j], np.complex64),
    }, here / "types.safetensors", {"made by": "safetensors"})


def tensor_bundle():
    import shutil
    import tempfile

    import tensorflow as tf

    folder = pathlib.Path(tempfile.mkdtemp())

    def save(prefix, slices, tensors):
        tf.raw_ops.SaveV2(prefix=str(folder / prefix), tensor_names=list(tensors), tensors=list(tensors.values()),
                          shape_and_slices=[slices.get(name, "") for name in tensors])

    # All types, and a name that slices' keys have to escape.
    save("types", {}, {
        "f32": tf.reshape(tf.range(6, dtype=tf.float32), (2, 3)),
        "f64": tf.constant(0.5, tf.float64),
        "f16": tf.constant([1, -2], tf.float16),
        "bf16": tf.constant([1, -2], tf.bfloat16),
        "i64": tf.constant([-5], tf.int64),
        "i32": tf.constant([-4]),
        "i16": tf.constant([-3], tf.int16),
        "i8": tf.constant([-2], tf.int8),
        "u64": tf.constant([5], tf.uint64),
        "u32": tf.constant([4], tf.uint32),
        "u16": tf.constant([3], tf.uint16),
        "u8": tf.constant([1, 255], tf.uint8),
        "bool": tf.constant([True, False]),
        "empty": tf.zeros((0, 3)),
        "c64": tf.constant([1 - 2j], tf.complex64),
        "c128": tf.constant([1 - 2j], tf.complex128),
        "string": tf.constant([["a", ""], ["b" * 200, b"\xff\0"]]),
        "scalar/string": tf.constant("text"),
    })
    # A partitioned variable in two files: rows 0 to 199, and of the others each half of the columns.
    whole = np.arange(300 * 4, dtype=np.int32).reshape(300, 4)
    save("part_0", {"v": "300 4 0,200:-"}, {"v": tf.constant(whole[:200]), "step": tf.constant(7, tf.int64)})
    save("part_1", {"v": "300 4 200,100:0,2", "w": "2 0,1"},
         {"v": tf.constant(whole[200:, :2]), "w": tf.constant(["first"])})
    save("part_2", {"v": "300 4 200,100:2,2", "w": "2 1,1"},
         {"v": tf.constant(whole[200:, 2:]), "w": tf.constant(["second"])})
    tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=[str(folder / f"part_{i}") for i in range(3)],
                                  destination_prefix=str(folder / "slices"), delete_old_dirs=False)
    # More than a block of the index.
    save("many", {}, {f"layer_{i:03d}/weights": tf.constant([i]) for i in range(200)})
    # Files of tf.train.Checkpoint, with the graph of objects.
    tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).write(str(folder / "objects"))
    for prefix in "types", "slices", "many", "objects":
        for path in folder.glob(f"{prefix}.*"):
            shutil.copyfile(path, here / path.name)
    shutil.rmtree(folder)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def varint(number):
    made = b""
    while number >= 128:
        made += bytes([number & 127 | 128])
        number >>= 7
    return made + bytes([number])


def compressed_index():
    """many.index with blocks that are compressed with Snappy, as builds of TensorFlow at Google write them."""
    import struct

    import cramjam  # Snappy

    content = (here / "many.index").read_bytes()

    def take_varint(data, at):
        number = shift = 0
        while True:
            number |= (data[at] & 127) << shift
            shift += 7
            at += 1
            if data[at - 1] < 128:
                return number, at

    def take_handle(data, at):
        offset, at = take_varint(data, at)
        size, at = take_varint(data, at)
        return (offset, size), at

    def rows(block):
        """The rows of a block of the index, each with the position of its value."""
        end = len(block) - 4 - 4 * struct.unpack("<I", block[-4:])[0]
        at = 0
        while at < end:
            _, at = take_varint(block, at)
            more, at = take_varint(block, at)
            size, at = take_varint(block, at)
            key, value = block[at:at + more], block[at + more:at + more + size]
            at += more + size
            yield key, value

    out = bytearray()

    def put(block):
        packed = bytes(cramjam.snappy.compress_raw(block)) + b"\1"
        crc = crc32c(packed)
        handle = varint(len(out)) + varint(len(packed) - 1)
        out.extend(packed + struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF))
        return handle

    footer = content[-48:]
    meta, at = take_handle(footer, 0)
    index, _ = take_handle(footer, at)
    entries = b""
    restarts = []
    for key, value in rows(content[index[0]:sum(index)]):
        place, _ = take_handle(value, 0)
        restarts.append(len(entries))
        handle = put(content[place[0]:sum(place)])
        entries += varint(0) + varint(len(key)) + varint(len(handle)) + key + handle
    entries += struct.pack(f"<{len(restarts) + 1}I", *restarts, len(restarts))
    tail = put(content[meta[0]:sum(meta)]) + put(entries)
    (here / "compressed.index").write_bytes(bytes(out) + tail.ljust(40, b"\0") + footer[40:])
    (here / "compressed.data-00000-of-00001").write_bytes((here / "many.data-00000-of-00001").read_bytes())


def first_version():
    """Checkpoints of version 1: a file with all types, and two with slices of one variable."""
    import tensorflow as tf

    v1, raw = tf.compat.v1, tf.raw_ops
    whole = np.arange(6 * 4, dtype=np.int32).reshape(6, 4)
    all_types = {
        "f32": tf.reshape(tf.range(6, dtype=tf.float32), (2, 3)),
        "f64": tf.constant(0.5, tf.float64),
        "f16": tf.constant([1, -2], tf.float16),
        "i64": tf.constant([-5], tf.int64),
        "i32": tf.constant([-4]),
        "i16": tf.constant([-3], tf.int16),
        "i8": tf.constant([-2], tf.int8),
        "u8": tf.constant([1, 255], tf.uint8),
        "bool": tf.constant([True, False]),
        "empty": tf.zeros((0, 3)),
        "c64": tf.constant([1 - 2j], tf.complex64),
        "string": tf.constant([["a", ""], ["b" * 200, b"\xff\0"]]),
    }
    raw.Save(filename=str(here / "first_types"), tensor_names=list(all_types), data=list(all_types.values()))
    for shard, (spec, part) in enumerate((("6 4 0,2:-", whole[:2]), ("6 4 2,4:-", whole[2:]))):
        raw.SaveSlices(filename=str(here / f"first_slices-{shard:05d}-of-00002"), tensor_names=["v"],
                       shapes_and_slices=[spec], data=[tf.constant(part)])


def tfrecord():
    import tensorflow as tf

    for ending, kind in ("", ""), (".gz", "GZIP"), (".zlib", "ZLIB"):
        with tf.io.TFRecordWriter(str(here / f"records.tfrecord{ending}"), kind) as writer:
            for record in b"hello", b"", b"\0\xff", b"a" * 1000:
                writer.write(record)


def events():
    import shutil
    import tempfile

    import tensorflow as tf

    v1 = tf.compat.v1
    folder = pathlib.Path(tempfile.mkdtemp())
    with tf.Graph().as_default(), v1.Session() as session, v1.summary.FileWriter(str(folder)) as writer:
        for summary in (v1.summary.scalar("loss", tf.constant(0.5)),
                        v1.summary.histogram("weights", tf.constant([1.0, 2.0, -1.0, 5.0])),
                        v1.summary.image("input", tf.zeros((1, 2, 3, 1), tf.uint8))):
            writer.add_summary(session.run(summary), 5)
    shutil.copyfile(next(folder.iterdir()), here / "events.out.tfevents.1")
    shutil.rmtree(folder)


def npz():
    arrays = {
        "f32": np.arange(6, dtype=np.float32).reshape(2, 3),
        "words": np.array([b"a", b"bc"]),
        "zeros": np.zeros(1000, np.int64),
    }
    np.savez(here / "stored.npz", **arrays)
    np.savez_compressed(here / "deflated.npz", **arrays)


FAMILIES = {each.__name__: each
            for each in (safetensors, tensor_bundle, compressed_index, first_version, tfrecord, events, npz)}

if __name__ == "__main__":
    for family in sys.argv[1:] or FAMILIES:
        FAMILIES[family]()
