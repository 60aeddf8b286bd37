#!/usr/bin/env python3
"""Writes SavedModels with TensorFlow, and their results: saved_models.py [MODEL...], by default all.

saved_MODEL.zip has the files of the SavedModel in model/ and, for each signature that is tried,

    SIGNATURE/feed/NAME.npy    the value to feed to the input NAME
    SIGNATURE/fetch/NAME.npy   the expected value of the output NAME
"""

import io
import os
import pathlib
import sys
import tempfile
import zipfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
here = pathlib.Path(__file__).resolve().parent


def words_file(folder):
    path = os.path.join(folder, "words.txt")
    pathlib.Path(path).write_text("zero\none\ntwo\nthree\n")
    return path


def first_version(folder, scratch, as_text=False):
    """The first API: ref variables, a table from an asset, two signatures, and an op to run at the start."""
    with v1.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 3], "x")
        w = v1.get_variable("w", initializer=np.arange(6, dtype=np.float32).reshape(3, 2), use_resource=False)
        b = v1.get_variable("b", initializer=np.float32([0.5, -0.5]), use_resource=False)
        y = tf.identity(x @ w + b, "y")
        word = v1.placeholder(tf.string, [None], "word")
        asset = tf.constant(words_file(scratch), name="words_file")
        v1.add_to_collection(v1.GraphKeys.ASSET_FILEPATHS, asset)
        table = tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(asset, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE,
                                          tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), -1)
        number = table.lookup(word)
        calls = v1.get_variable("calls", initializer=np.int32(0), use_resource=False, trainable=False)
        v1.assign_add(calls, 1, name="not_served")
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        session.run(w.assign_add(tf.ones_like(w)))
        info = v1.saved_model.build_tensor_info
        define = v1.saved_model.build_signature_def
        builder = v1.saved_model.Builder(folder)
        builder.add_meta_graph_and_variables(
            session, ["serve"],
            {"serving_default": define({"x": info(x)}, {"y": info(y)}, "tensorflow/serving/predict"),
             "number_of": define({"word": info(word)}, {"number": info(number)}, "tensorflow/serving/predict")},
            assets_collection=v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS), main_op=v1.tables_initializer())
        builder.save(as_text=as_text)
    return {"serving_default": {"x": np.float32([[1, 2, 3], [0, 1, 0]])},
            "number_of": {"word": np.array([b"two", b"none", b"zero"])}}


def as_text(folder, scratch):
    """The same with a saved_model.pbtxt."""
    return first_version(folder, scratch, as_text=True)


def first_checkpoint(folder, scratch):
    """A checkpoint as TensorFlow 0.12 wrote it: variables/variables is one file, a checkpoint of version 1, and signatures
    have no types."""
    with v1.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None], "x")
        v = v1.get_variable("v", initializer=np.float32(3), use_resource=False)
        y = tf.identity(x * v, "y")
        session.run(v1.global_variables_initializer())
        define, info = v1.saved_model.build_signature_def, tf.compat.v1.saved_model.build_tensor_info
        builder = v1.saved_model.Builder(folder)
        builder.add_meta_graph_and_variables(
            session, ["serve"],
            {"serving_default": define({"x": info(x)}, {"y": info(y)}, "tensorflow/serving/predict")},
            saver=v1.train.Saver(write_version=v1.train.SaverDef.V1))
        model = builder._saved_model
        for side in "inputs", "outputs":
            for each in getattr(model.meta_graphs[0].signature_def["serving_default"], side).values():
                each.ClearField("dtype")
        builder.save()
    return {"serving_default": {"x": np.float32([1, 3])}}


def on_disk(folder, scratch):
    """No SavedModel, but the files of tf.compat.v1.train.Saver: two checkpoints, each with its graph as .meta, and the
    file that names the latest."""
    os.makedirs(folder)
    with v1.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [2], "x")
        v = v1.get_variable("v", initializer=np.float32([1, 2]), use_resource=False)
        tf.multiply(x, v, "y")
        session.run(v1.global_variables_initializer())
        saver = v1.train.Saver()
        saver.save(session, os.path.join(folder, "model.ckpt"), global_step=1)
        session.run(v.assign([3, 4]))
        saver.save(session, os.path.join(folder, "model.ckpt"), global_step=2)
    v1.train.update_checkpoint_state(folder, "model.ckpt-2", ["model.ckpt-1", "model.ckpt-2"])
    return {}


def module(folder, scratch):
    """A tf.Module: functions with variables, one of which changes, a table from an asset, two outputs."""

    class Model(tf.Module):
        def __init__(self):
            self.w = tf.Variable(np.float32([[1, -2], [3, 4]]), name="w")
            self.seen = tf.Variable(np.int64(0), name="seen")
            self.table = tf.lookup.StaticHashTable(
                tf.lookup.TextFileInitializer(words_file(scratch), tf.string, tf.lookup.TextFileIndex.WHOLE_LINE,
                                              tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), -1)

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, "x"), tf.TensorSpec([], tf.float32, "scale")])
        def apply(self, x, scale):
            self.seen.assign_add(tf.shape(x, out_type=tf.int64)[0])
            return {"y": tf.nn.relu(x @ self.w) * scale, "seen": self.seen.read_value()}

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "word")])
        def number_of(self, word):
            return {"number": self.table.lookup(word)}

    made = Model()
    tf.saved_model.save(made, folder, {"serving_default": made.apply, "number_of": made.number_of})
    return {"serving_default": {"x": np.float32([[1, 2], [-1, 1], [0, 3]]), "scale": np.float32(2)},
            "number_of": {"word": np.array([b"three", b"none"])}}


def keras(folder, scratch):
    """A model that Keras exports for serving: dense layers with names of its own."""
    tf.keras.utils.set_random_seed(3)
    made = tf.keras.Sequential([tf.keras.Input([4], name="features"), tf.keras.layers.Dense(5, "tanh", name="hidden"),
                                tf.keras.layers.BatchNormalization(name="norm"),
                                tf.keras.layers.Dense(2, "softmax", name="classes")])
    made.export(folder, verbose=False)
    return {"serving_default": {"features": np.float32([[1, 2, 3, 4], [-1, 0, 1, 0]])}}


models = {"first_version": first_version, "as_text": as_text, "first_checkpoint": first_checkpoint, "on_disk": on_disk, "module": module, "keras": keras}


def npy(value):
    file = io.BytesIO()
    value = np.asarray(value)
    np.save(file, value.astype("S") if value.dtype == object else value)
    return file.getvalue()


def run(folder, name, feeds):
    # A signature changes its variables for later ones: each loads the model again.
    function = tf.saved_model.load(folder).signatures[name]
    return {key: value.numpy() for key, value in function(**{k: tf.constant(v) for k, v in feeds.items()}).items()}


def main():
    for name in sys.argv[1:] or models:
        with tempfile.TemporaryDirectory() as scratch:
            folder = os.path.join(scratch, "model")
            cases = models[name](folder, scratch)
            path = here / f"saved_{name}.zip"
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
                def add(inside, content):
                    out.writestr(zipfile.ZipInfo(inside), content, zipfile.ZIP_DEFLATED)
                for file in sorted(pathlib.Path(folder).rglob("*")):
                    if file.is_file() and file.name != "fingerprint.pb":
                        add(str(pathlib.Path("model") / file.relative_to(folder)), file.read_bytes())
                for signature, feeds in cases.items():
                    for key, value in feeds.items():
                        add(f"{signature}/feed/{key}.npy", npy(value))
                    for key, value in run(folder, signature, feeds).items():
                        add(f"{signature}/fetch/{key}.npy", npy(value))
            print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
