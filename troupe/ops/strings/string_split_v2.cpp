// StringSplitV2: strings taken apart as Python does.
#include "troupe/ops/strings/shared/splitting.hpp"

namespace troupe::ops::string_split_v2_op {

extern constexpr op_def string_split_v2{
    .name = "StringSplitV2",
    .doc =
        "Takes each string of a vector apart, at the separator.\n\n"
        "The pieces are a sparse matrix, a row for each string: where they stand, what they are, "
        "and how large the matrix is. An empty separator is any amount of space, and none at "
        "both ends counts. A maxsplit that is not negative is the most splits of a string.",
    .inputs = {{"input", "string"}, {"sep", "string"}},
    .outputs = split_outputs,
    .attrs = {{"maxsplit", -1}},
    .infer = infer_split,
    .no_gradient = "text has none",
    .example = R"(
y = StringSplitV2(string["a, b", "c"], string(", "))
fetch y = i64[[0, 0], [0, 1], [1, 0]]
fetch y:1 = string["a", "b", "c"]
fetch y:2 = i64[2, 2]
)",
};

} // namespace troupe::ops::string_split_v2_op
