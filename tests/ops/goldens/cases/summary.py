"""Summaries for TensorBoard: numbers, histograms, sounds, tensors."""

import numpy as np
import tensorflow as tf

from golden import bfloat16, case, normal, uniform

NUMBERS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float16, bfloat16, np.float32, np.float64)


def text(*values):
    return np.array(values, object)


def tag(value):
    return text(value).reshape(())


for dtype in NUMBERS:
    values = uniform(0, 100, 2, 3, dtype=np.int32).astype(dtype)
    case("ScalarSummary", text(*"abcdef").reshape(2, 3), values)
    case("HistogramSummary", tag("weights/w"), values)
case("ScalarSummary", tag("loss"), np.float32(0.25))
case("ScalarSummary", tag(""), np.float32(-0.0))
case("ScalarSummary", text(), np.float32([]))
case("ScalarSummary", text("a", "b", "c", "d"), np.float64([1e300, np.nan, -np.inf, 1e-50]))
case("ScalarSummary", tag("a" * 300), np.int64(2**62 + 1))
case("ScalarSummary", text("a"), np.float32(1), refused=True)
case("ScalarSummary", text("a", "b"), np.float32([1]), refused=True)

case("HistogramSummary", tag("none"), np.float32([]))
case("HistogramSummary", tag("zero"), np.float32([0, -0.0]))
case("HistogramSummary", tag("edges"), np.float64([1e-12, 1.1e-12, -1e-12, 1e20, 9e19, -9e19, -1e20, 1e300, -1e300, 1e-300]))
case("HistogramSummary", tag("normal"), normal(30, 40))
case("HistogramSummary", tag("f64"), normal(1000, dtype=np.float64) * 1e-6)
for bad in (np.nan, np.inf, -np.inf):
    case("HistogramSummary", tag("bad"), np.float32([1, bad]), refused=True)
case("HistogramSummary", text("a", "b"), np.float32([1]), refused=True)

SOUND = np.float32([[0, 1, -1, 0.5, 2, -2, 1e-5], [0.25, -0.75, np.inf, -np.inf, 1 / 65536, 3 / 65536, -1 / 65536]])
for channels in (SOUND, SOUND[:, :6].reshape(2, 3, 2), np.zeros((1, 0), np.float32), np.zeros((0, 3), np.float32), np.zeros((5, 1, 1), np.float32)):
    for most in (1, 2, 3):
        case("AudioSummaryV2", tag("song"), channels, np.float32(8000), max_outputs=most)
case("AudioSummaryV2", tag("slow"), SOUND, np.float32(0.2))
case("AudioSummaryV2", tag("none"), SOUND, np.float32(0), refused=True)
case("AudioSummaryV2", tag("flat"), SOUND[0], np.float32(1), refused=True)
case("AudioSummaryV2", tag("mute"), np.zeros((1, 2, 0), np.float32), np.float32(1), refused=True)

PLUGIN = tf.compat.v1.SummaryMetadata(plugin_data=tf.compat.v1.SummaryMetadata.PluginData(plugin_name="scalars")).SerializeToString()
for dtype in NUMBERS + (np.complex64, np.bool_):
    values = uniform(0, 100, 2, 3, dtype=np.int32).astype(dtype)
    case("TensorSummary", values)
    case("TensorSummaryV2", tag("t"), values, tag(PLUGIN))
for value in (np.float32(1), np.zeros((0, 2), np.int32), text("a", "", "long" * 100)):
    case("TensorSummary", value, description="d", labels=["x"], display_name="n")
    case("TensorSummaryV2", tag("t"), value, tag(""))

NUMBER, COUNTS = b"\n\x08\n\x01a\x15\x00\x00\x80?", b"\n\x08\n\x01b\x15\x00\x00\x00@"
case("MergeSummary", [tag(NUMBER)])
case("MergeSummary", [tag(NUMBER), tag(COUNTS)])
case("MergeSummary", [text(NUMBER, COUNTS)])
case("MergeSummary", [text(NUMBER, ""), text().reshape(0, 2), text(COUNTS).reshape(1, 1)])
case("MergeSummary", [text()])
case("MergeSummary", [tag(b"\n\x12:\rTensorSummaryB\x01\x08"[:0]), tag(NUMBER)])
case("MergeSummary", [tag(NUMBER), tag(NUMBER)], refused=True)
case("MergeSummary", [tag(NUMBER[:-1])], refused=True)
case("MergeSummary", [tag("no summary")], refused=True)
