"""Bytes and text that become tensors: raw numbers, CSV, tf.train.Example, TensorProto."""

import numpy as np
import tensorflow as tf

from golden import bfloat16, case, normal, uniform

NUMBERS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.float16, bfloat16, np.float32, np.float64, np.complex64, np.complex128)


def text(*values):
    return np.array(values, object)


for dtype in NUMBERS:
    raw = [uniform(0, 120, 3, dtype=np.int32).astype(dtype).tobytes() for _ in range(2)]
    case("DecodeRaw", text(*raw), out_type=dtype)
    case("DecodeRaw", text(*raw).reshape(2, 1), out_type=dtype, little_endian=False)
    case("DecodeRaw", text(raw[0]).reshape(()), out_type=dtype)
case("DecodeRaw", text(b"\x00\x01\x01"), out_type=np.bool_)
case("DecodeRaw", text("", ""), out_type=np.int32)
case("DecodeRaw", text(), out_type=np.int32)
case("DecodeRaw", text("abc"), out_type=np.int16, refused=True)
case("DecodeRaw", text("ab", "abcd"), out_type=np.int16, refused=True)

FLOAT, TEXT, INT = np.float32([0.5]), text("none"), np.int64([-1])
RECORDS = text("1.5,a,2", ",,", '2,"b, ""c""",3', "-1e3, x ,+7", '"4","",5')
case("DecodeCSV", RECORDS, [FLOAT, TEXT, INT])
case("DecodeCSV", RECORDS.reshape(5, 1), [FLOAT, TEXT, INT])
case("DecodeCSV", RECORDS[:1].reshape(()), [np.float64([]), text(), np.int32([])])
case("DecodeCSV", text(), [FLOAT])
case("DecodeCSV", text("a;b", "c;"), [TEXT, TEXT], field_delim=";")
case("DecodeCSV", text('a,"b', '"c",'), [TEXT, TEXT], use_quote_delim=False)
case("DecodeCSV", text("NA,1", "2,NA"), [INT, FLOAT], na_value="NA")
case("DecodeCSV", text("1,a,2.5,b", "2,c,,d"), [FLOAT, TEXT], select_cols=[2, 3])
case("DecodeCSV", text("1,a,2", "2,c,9,9,9"), [INT], select_cols=[0])
case("DecodeCSV", text("1,2", "\n3,\r\n4"), [INT, INT])
case("DecodeCSV", text('"a\nb",c'), [TEXT, TEXT])
case("DecodeCSV", text("7"), [np.int32(3)])
HEX = text("0x1p3,0x10", "-0x1.8p1, 0X1P-2 ", "+0x.8,0x1.", "0x1p+99999,-0xffp-99999")
for dtype in (np.float32, np.float64):
    case("DecodeCSV", HEX, [dtype([]), dtype([])])
for bad in ("", "1", "1,2,3", "x,2", "1.5,2", '"1,2', '"1"2,3', '1"2,3', "1,2\n", ",2", "99999999999999999999,1", '1,"2"x'):
    case("DecodeCSV", text(bad), [np.int64([]), INT], refused=True)
case("DecodeCSV", text("1"), [np.int64([1, 2])], refused=True)
for bad in ("0x", "0x1p", "0x1g", "0x-1", "x1"):
    case("DecodeCSV", text(bad), [np.float32([])], refused=True)
case("DecodeCSV", text("0x10"), [np.int32([])], refused=True)
case("DecodeCSV", text("1,2"), [INT, INT], field_delim=",,", refused=True)
case("DecodeCSV", text("1,2"), [INT, INT], select_cols=[0], refused=True)


def example(**features):
    made = tf.train.Example()
    for name, values in features.items():
        feature = made.features.feature[name]
        if values is None:
            continue
        array = np.asarray(values)
        if array.dtype.kind == "f":
            feature.float_list.value.extend(array.ravel())
        elif array.dtype.kind == "i":
            feature.int64_list.value.extend(array.ravel())
        else:
            feature.bytes_list.value.extend(v if isinstance(v, bytes) else v.encode() for v in values)
    return made.SerializeToString(deterministic=True)


EXAMPLES = text(
    example(a=[1.5, -2.0], n=[7, 2**40, -1], s=["x", "yz"], other=[1]),
    example(a=[0.0, 3.25], n=np.int64([]), s=[""]),
    example(a=[1e30, 4.0], s=["only", "strings", "here"]),
    example(a=[9.0, 8.0], n=[5], s=None),
)
# Unpacked lists are allowed as well: x is [1.5, 2] and n is [300].
UNPACKED = bytes.fromhex("0a250a110a0178120c120a0d0000c03f0d00000040" + "0a100a016e120b1a0908ac0208010802" + "0803")


def batch(serialized, sparse=(), dense=(), names=(), **more):
    """sparse: (key, type); dense: (key, default, shape)."""
    case(
        "ParseExample",
        serialized,
        text(*names),
        [text(key).reshape(()) for key, _ in sparse],
        [text(key).reshape(()) for key, _, _ in dense],
        [default for _, default, _ in dense],
        sparse_types=[dtype for _, dtype in sparse],
        dense_shapes=[shape for _, _, shape in dense],
        **more,
    )


def single(serialized, sparse=(), dense=(), **more):
    case(
        "ParseSingleExample",
        text(serialized).reshape(()),
        [default for _, default, _ in dense],
        num_sparse=len(sparse),
        sparse_keys=[key for key, _ in sparse],
        dense_keys=[key for key, _, _ in dense],
        sparse_types=[dtype for _, dtype in sparse],
        dense_shapes=[shape for _, _, shape in dense],
        **more,
    )


NOTHING = np.float32([])
A = ("a", NOTHING, [2])
SPARSE = (("n", tf.int64), ("s", tf.string))
for names in ((), ("one", "two", "three", "four")):
    batch(EXAMPLES, SPARSE, (A,), names)
batch(EXAMPLES, SPARSE + (("missing", tf.float32),))
batch(EXAMPLES, (), (A, ("missing", np.int64([1, 2]), [2])))
batch(EXAMPLES, (), (("n", np.int64([-5]), [None]), ("s", text("pad"), [None])))
batch(EXAMPLES, (), (("a", np.float32([[0], [0]]), [2, 1]),))
batch(EXAMPLES, (), (("a", np.float32([0.5]), [None, 2]),))
batch(EXAMPLES[:0], SPARSE, (A,))
batch(EXAMPLES, (), (("zero", np.int64([[1, 2], [3, 4]]), [2, 2]),))
batch(EXAMPLES, (), (("one", np.int64(3), []),))
batch(EXAMPLES, (("a", tf.int64),), refused=True)
batch(EXAMPLES, (), (("a", NOTHING, [3]),), refused=True)
batch(EXAMPLES, (), (("missing", NOTHING, [2]),), refused=True)
batch(text(b"\x0a\xff"), SPARSE, (A,), refused=True)
batch(text("nonsense"), SPARSE, (A,), refused=True)
batch(EXAMPLES, SPARSE, (A,), ("too", "few"), refused=True)
for serialized in EXAMPLES:
    single(serialized, SPARSE, (A,))
    single(serialized, (("s", tf.string),), (("n", np.int64([0]), [None]),))
single(EXAMPLES[0], (("missing", tf.float32),), (("nowhere", text("d", "e"), [2]),))
single(EXAMPLES[0], (("a", tf.int64),), refused=True)
single(EXAMPLES[0], (), (("a", NOTHING, [3]),), refused=True)
single(EXAMPLES[0], (), (("missing", NOTHING, [2]),), refused=True)
single(b"\x0a\xff", SPARSE, (A,), refused=True)

for dtype in NUMBERS + (np.uint32, np.uint64):
    values = uniform(0, 100, 2, 3, dtype=np.int32).astype(dtype)
    case("SerializeTensor", values)
    for made in (
        tf.make_tensor_proto(values),
        tf.make_tensor_proto(values.ravel()[0], shape=[2, 2]),
        tf.make_tensor_proto(values[:0]),
    ):
        case("ParseTensor", text(made.SerializeToString()).reshape(()), out_type=dtype)
for values in (np.array([True, False]), text("a", "", b"\xff\x00"), np.float32(3), np.zeros((0, 2), np.int32)):
    case("SerializeTensor", values)
    dtype = tf.string if values.dtype == object else values.dtype
    case("ParseTensor", text(tf.make_tensor_proto(values).SerializeToString()).reshape(()), out_type=dtype)
listed = tf.make_tensor_proto([1.0], shape=[3])
listed.float_val.extend([2.0])
case("ParseTensor", text(listed.SerializeToString()).reshape(()), out_type=np.float32)
case("ParseTensor", text(listed.SerializeToString()).reshape(()), out_type=np.int32, refused=True)
case("ParseTensor", text("nonsense").reshape(()), out_type=np.float32, refused=True)
