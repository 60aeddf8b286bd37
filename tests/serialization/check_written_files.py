#!/usr/bin/env python3
"""check_written_files.py TROUPE_TEST: other libraries read the files that Troupe writes.

Needs the packages that goldens/requirements.txt lists. The checks of missing packages are skipped; exits with 77 if
all are missing.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

try:
    import numpy as np
except ImportError:
    print("skipped: there is no numpy")
    sys.exit(77)

SKIPPED = 77


def expected():
    import ml_dtypes

    return {
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
        "c128": np.array([1 - 2j]),
    }


def same(name, got, wanted):
    assert got.dtype == wanted.dtype and got.shape == wanted.shape and got.tobytes() == wanted.tobytes(), \
        f"{name}: {got!r}, and should be {wanted!r}"


def safetensors(folder):
    import ml_dtypes  # noqa: F401
    from safetensors import safe_open

    with safe_open(folder / "types.safetensors", "np") as file:
        assert file.metadata()["made by"] == "troupe"
        for name, wanted in expected().items():
            if name != "c128":  # none of the format's
                same(name, file.get_tensor(name), wanted)
        assert file.get_tensor("c128").tobytes() == expected()["c128"].tobytes()
        lengths = np.array([1, 0, 200, 2], np.uint64).tobytes()
        assert file.get_tensor("string").tobytes() == lengths + b"a" + b"b" * 200 + b"\xff\0"


def tensor_bundle(folder):
    import tensorflow as tf

    reader = tf.train.load_checkpoint(str(folder / "bundle"))
    for name, wanted in expected().items():
        same(name, np.asarray(reader.get_tensor(name)), wanted)
    assert reader.get_tensor("string").tolist() == [[b"a", b""], [b"b" * 200, b"\xff\0"]]
    whole = np.arange(1200, dtype=np.int32).reshape(300, 4)
    same("v", reader.get_tensor("v"), whole)
    same("rows of v", tf.raw_ops.RestoreV2(prefix=str(folder / "bundle"), tensor_names=["v"],
                                           shape_and_slices=["300 4 198,4:1,2"], dtypes=[tf.int32])[0].numpy(),
         whole[198:202, 1:3])
    for i in range(500):
        assert reader.get_tensor(f"layer_{i}/weights") == i
    assert len(reader.get_variable_to_shape_map()) == len(expected()) + 502


def tfrecord(folder):
    import tensorflow as tf

    for ending, kind in ("", ""), (".gz", "GZIP"), (".zlib", "ZLIB"):
        records = tf.data.TFRecordDataset(str(folder / f"records.tfrecord{ending}"), kind)
        assert [one.numpy() for one in records] == [b"hello", b"", b"\0\xff", b"a" * 700000], ending


def events(folder):
    from tensorboard.backend.event_processing import event_accumulator, plugin_event_accumulator

    run = event_accumulator.EventAccumulator(str(folder / "run"), size_guidance={"scalars": 0})
    run.Reload()
    assert [(one.step, one.wall_time, one.value) for one in run.Scalars("loss")] \
        == [(i, 100 + i, i / 4) for i in range(10)]
    counts = run.Histograms("weights")[0].histogram_value
    assert (counts.min, counts.max, counts.num, counts.sum) == (-1, 5, 4, 7) and sum(counts.bucket) == 4, counts
    image = run.Images("input")[0]
    assert (image.width, image.height) == (3, 4) and image.encoded_image_string.startswith(b"\x89PNG")
    # How TensorBoard itself reads them.
    shown = plugin_event_accumulator.EventAccumulator(str(folder / "run"), size_guidance={"tensors": 0})
    shown.Reload()
    assert set(shown.Tags()["tensors"]) >= {"loss", "weights", "input"}, shown.Tags()
    assert [node.name for node in run.Graph().node] == ["here"]


def npz(folder):
    import zipfile

    for name in "stored.npz", "deflated.npz":
        with np.load(folder / name) as arrays:
            assert sorted(arrays) == ["f32", "words", "zeros"]
            same("f32", arrays["f32"], expected()["f32"])
            assert arrays["words"].tolist() == [b"a", b"bc"] and not arrays["zeros"].any()
        assert zipfile.ZipFile(folder / name).testzip() is None
    wide = zipfile.ZipFile(folder / "wide.zip")
    assert wide.testzip() is None and wide.read("a") == b"content" and wide.read("b") == b"b" * 1000


CHECKS = [safetensors, tensor_bundle, tfrecord, events, npz]


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "[.written_files]"], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "TROUPE_WRITTEN_FILES": folder})
        done = 0
        for check in CHECKS:
            try:
                check(pathlib.Path(folder))
            except ImportError as missing:
                print(f"{check.__name__}: skipped: {missing}")
                continue
            print(f"{check.__name__}: as it should be")
            done += 1
    return 0 if done else SKIPPED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
