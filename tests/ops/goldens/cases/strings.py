"""Strings: joining, splitting, searching, hashing, numbers as text."""

import itertools

import numpy as np

from golden import bfloat16, case, normal, uniform

NONE = np.zeros((0, 3), object)
WORDS = np.array([["troupe", "an actor", ""], ["  two  spaces ", "a,b,,c", "\t\n"]], object)
UTF8 = np.array(["é", "naïve", "日本語", "a", "", "😀x"], object)
BROKEN = np.array([b"\xff", b"a\x80b", b"\xc3", b"\x80\x80"], object)


def text(*values):
    return np.array(values, object)


for separator in ("", ", "):
    case("StringJoin", [WORDS, WORDS], separator=separator)
    case("StringJoin", [WORDS, text("x").reshape(()), WORDS], separator=separator)
case("StringJoin", [text("alone")], separator="-")
case("StringJoin", [NONE, text("x").reshape(())])
case("StringJoin", [text("a").reshape(()), text("b").reshape(())])
case("StringJoin", [text("a", "b"), text("a", "b", "c")], refused=True)

SENTENCES = text("hello world", " a  b ", "", "x", "a,b;c", ",;", ";a,,")
for delimiter in (" ", ",", ",;", ""):
    for skip_empty in (True, False):
        case("StringSplit", SENTENCES if delimiter else SENTENCES[:2], text(delimiter).reshape(()), skip_empty=skip_empty)
case("StringSplit", text(), text(" ").reshape(()))
case("StringSplit", WORDS, text(" ").reshape(()), refused=True)

for sep in ("", ",", " ", "ab", ", "):
    for maxsplit in (-1, 0, 1, 2):
        case(
            "StringSplitV2",
            text("hello world", " a  b ", "", "x", "a,b,c", ",,", "xabyabab", "a, b, c, ", "\ta\r\nb\v\fc"),
            text(sep).reshape(()),
            maxsplit=maxsplit,
        )
case("StringSplitV2", text(), text(" ").reshape(()))

NUMBERS = text("0", "1.5", "-2", "+3", " 4\t", "1e3", "-1.25e-2", "1e-60")
case("StringToNumber", NUMBERS, out_type=np.float32)
case("StringToNumber", NUMBERS, out_type=np.float64)
case("StringToNumber", text("inf", "-inf", "nan", "Infinity", "1e40", "-1e40", "1e400"), out_type=np.float32)
case("StringToNumber", text("1e400", "-1e400", "1e-400", "0.1", "123456789012345678901234567890"), out_type=np.float64)
for dtype in (np.float32, np.float64):
    case("StringToNumber", text("0x1p3", "0x10", "-0x1.8p1", "0X1P-2", " +0x.8 "), out_type=dtype)
case("StringToNumber", text("7", "-8", " 9 ", "2147483647", "-2147483648"), out_type=np.int32)
case("StringToNumber", text("9223372036854775807", "-9223372036854775808", "+5"), out_type=np.int64)
case("StringToNumber", text("4294967295", "0"), out_type=np.uint32)
case("StringToNumber", text("18446744073709551615", "0"), out_type=np.uint64)
case("StringToNumber", NONE, out_type=np.int32)
for bad, dtype in itertools.chain(
    itertools.product(("", "x", "1x", "1 2", "--1", "+-1", "0x", "1e", ".", "-"), (np.float32,)),
    itertools.product(("", "1.5", "2147483648", "0x10", "+", "- 1"), (np.int32,)),
    (("-1", np.uint32), ("9223372036854775808", np.int64)),
):
    case("StringToNumber", text(bad), out_type=dtype, refused=True)

REAL = np.array([0, 1.5, -2.25, 1e10, 1e-7, 12345.678, np.inf, -np.inf, np.nan])
for dtype in (np.float16, bfloat16, np.float32, np.float64):
    case("AsString", REAL.astype(dtype))
    case("AsString", REAL.astype(dtype), scientific=True, precision=2)
    case("AsString", REAL.astype(dtype), shortest=True)
    case("AsString", REAL.astype(dtype), precision=0, width=12, fill="0")
for dtype in (np.complex64, np.complex128):
    case("AsString", normal(2, 2, dtype=dtype))
    case("AsString", normal(3, dtype=dtype), shortest=True, width=9)
for dtype in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64):
    limits = np.iinfo(dtype)
    case("AsString", np.array([0, 7, limits.min, limits.max], dtype))
    case("AsString", np.array([0, 7, limits.min, limits.max], dtype), width=6)
for fill in (" ", "+", "-", "0"):
    case("AsString", np.array([7, -7], np.int32), width=4, fill=fill)
case("AsString", np.array([True, False]))
case("AsString", WORDS)
case("AsString", np.zeros((0, 2), np.int32))
case("AsString", np.array([1], np.int32), scientific=True, refused=True)
case("AsString", np.array([1], np.int32), precision=2, refused=True)
case("AsString", np.array([1], np.float32), scientific=True, shortest=True, refused=True)
case("AsString", np.array([1], np.float32), width=4, fill="ab", refused=True)

for dtype in (np.int32, np.int64):
    case("Substr", text("hello", "actors"), dtype(1), dtype(3))
    case("Substr", text("hello", "actors"), np.array([0, -3], dtype), np.array([9, 2], dtype))
    case("Substr", text("hello").reshape(()), np.array([0, 5, -5], dtype), np.array([0, 3, 4], dtype))
    case("Substr", WORDS[:, :1], np.array([[0, 1], [2, -1]], dtype), np.array([[1, 2], [3, 4]], dtype))
    case("Substr", UTF8[:3], dtype(0), dtype(2), unit="UTF8_CHAR")
    case("Substr", UTF8[1:3], dtype(-2), dtype(9), unit="UTF8_CHAR")
    case("Substr", NONE, dtype(0), dtype(1))
    case("Substr", text("abc"), dtype(4), dtype(1), refused=True)
    case("Substr", text("abc"), dtype(-4), dtype(1), refused=True)
    case("Substr", UTF8, dtype(7), dtype(1), unit="UTF8_CHAR", refused=True)

MANY = np.array(["", "a", "ab", "abcdefg", "abcdefgh"] + ["troupe" * n for n in range(1, 40)] + [b"\xff\x00\x80"], object)
for buckets in (1, 2, 1000, 2**31, 2**63 - 1):
    case("StringToHashBucketFast", MANY, num_buckets=buckets)
    case("StringToHashBucket", MANY, num_buckets=buckets)
    case("StringToHashBucketStrong", MANY, num_buckets=buckets, key=[123, -456])
case("StringToHashBucketFast", WORDS, num_buckets=10)
case("StringToHashBucketFast", NONE, num_buckets=10)
case("StringToHashBucket", NONE, num_buckets=10)
case("StringToHashBucketStrong", NONE, num_buckets=10, key=[0, 0])
case("StringToHashBucketStrong", WORDS, num_buckets=10, key=[0, 0])
case("StringToHashBucketStrong", WORDS, num_buckets=10, key=[1], refused=True)

for values in (WORDS, UTF8, BROKEN, NONE, text("x" * 300), text("y").reshape(())):
    for unit in ("BYTE", "UTF8_CHAR"):
        case("StringLength", values, unit=unit)

MIXED = text("ABC def", "é1É", "", "[\\]^_`{|}~@")
for values in (WORDS, MIXED, NONE, BROKEN, text("Q").reshape(()), text("\x00Ab")):
    for op in ("StringLower", "StringUpper", "StringStrip"):
        case(op, values)

for pattern, rewrite in (
    ("a", "b"),
    ("[a-z]+", r"<\0>"),
    ("(.)(.)", r"\2\1"),
    ("", "-"),
    (r"\s+", " "),
    ("^", ">"),
    ("é|日", "?"),
):
    for values in (WORDS, UTF8):
        case("RegexReplace", values, text(pattern).reshape(()), text(rewrite).reshape(()))
        case("RegexReplace", values, text(pattern).reshape(()), text(rewrite).reshape(()), replace_global=False)
        case("StaticRegexReplace", values, pattern=pattern, rewrite=rewrite)
case("RegexReplace", NONE, text("a").reshape(()), text("b").reshape(()))
case("RegexReplace", WORDS, text("(").reshape(()), text("b").reshape(()), refused=True)
case("RegexReplace", WORDS, text("a", "b"), text("b").reshape(()), refused=True)

for pattern in ("a.*", "", r"\w+", "(?i)TROUPE", "[^a]*", "日本."):
    for values in (WORDS, UTF8):
        case("RegexFullMatch", values, text(pattern).reshape(()))
        case("StaticRegexFullMatch", values, pattern=pattern)
case("RegexFullMatch", NONE, text("a").reshape(()))
case("RegexFullMatch", WORDS, text("*").reshape(()), refused=True)

CUBE = np.array([f"{i}{j}{k}" for i in "ab" for j in "cde" for k in "fg"], object).reshape(2, 3, 2)
for axes in ([0], [1], [-1], [0, 1], [1, 0], [2, 0], [-1, 1, 0], []):
    for separator in ("", "."):
        case("ReduceJoin", CUBE, np.array(axes, np.int32), separator=separator)
    case("ReduceJoin", CUBE, np.array(axes, np.int32), keep_dims=True)
case("ReduceJoin", NONE, np.array([0], np.int32))
case("ReduceJoin", text("s").reshape(()), np.array([], np.int32))
case("ReduceJoin", CUBE, np.int32(1))
case("ReduceJoin", CUBE, np.array([3], np.int32), refused=True)
case("ReduceJoin", CUBE, np.array([1, 1], np.int32), refused=True)
case("ReduceJoin", CUBE, np.array([1, -2], np.int32), refused=True)

BYTES = np.array([b"", b"a", b"ab", b"abc", b"abcd", bytes(range(256)), b"\xff\xef\xbe"], object)
for pad in (False, True):
    case("EncodeBase64", BYTES, pad=pad)
    case("EncodeBase64", WORDS, pad=pad)
    case("EncodeBase64", NONE, pad=pad)
case("DecodeBase64", text("", "YQ==", "YQ", "YWI=", "YWI", "YWJj", "_-8", "_-8=", "YWJjZA"))
case("DecodeBase64", NONE)
case("DecodeBase64", text("dHJvdXBl").reshape(()))
for bad in ("Y", "YQ=", "Y===", "====", "=", "YQ==YQ==", "Y Q=", "+/8=", "YQ=a", "é", "YWJ=j"):
    case("DecodeBase64", text(bad), refused=True)
