"""Output of graphs for people: Print, PrintV2, Assert, StringFormat."""

import numpy as np

from golden import bfloat16, case, normal, uniform

NUMBERS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float32, np.float64)


def text(*values):
    return np.array(values, object)


for value in (normal(2, 3), np.int32(7), text("a", "b"), np.zeros((0, 2), np.float32), np.array([True]), normal(3, dtype=np.complex64)):
    case("Print", value, [value, np.int64([1, 2, 3, 4])], message="says ", summarize=1)
    case("Print", value, [], first_n=0)
    case("Assert", np.bool_(True), [value])
    case("Assert", np.bool_(False), [value, text("why")], refused=True)
for stream in ("stderr", "stdout", "log(info)", "log(warning)", "log(error)"):
    case("PrintV2", text("golden cases are running").reshape(()), output_stream=stream, end=" as it seems\n")
case("PrintV2", text("").reshape(()), end="")

for dtype in NUMBERS:
    values = uniform(0, 100, 2, 3, dtype=np.int32).astype(dtype)
    for summarize in (-1, 1, 2, 3):
        case("StringFormat", [values], template="is %s.", summarize=summarize)
for values in (
    np.float32([0.1, 1 / 3, 1e10, 1e-10, 123456.789, 16777217, np.inf, -np.inf, np.nan, -0.0]),
    np.float64([0.1, 1 / 3, 1e10, 1e-10, 123456.789, 1e300, np.inf, -np.inf, np.nan, 2.5e-300]),
    np.array([True, False]),
    text("a", 'quo"te', "b\\c", "new\nline", "é", ""),
    np.zeros((0,), np.float32),
    np.int32(5),
    np.arange(24, dtype=np.int32).reshape(2, 3, 4),
    np.arange(400, dtype=np.int32).reshape(10, 40),
    np.arange(48, dtype=np.int32).reshape(2, 2, 3, 4),
):
    case("StringFormat", [values], summarize=-1)
    case("StringFormat", [values], summarize=2)
case("StringFormat", [np.int32(1), text("two").reshape(())], template="{}, {}!", placeholder="{}")
case("StringFormat", [], template="nothing")
