// StringSplit: strings taken apart at certain characters.
#include "troupe/ops/strings/shared/splitting.hpp"

namespace troupe::ops::string_split_op {

extern constexpr op_def string_split{
    .name = "StringSplit",
    .doc =
        "Takes each string of a vector apart, at each of the delimiter's bytes.\n\n"
        "The pieces are a sparse matrix, a row for each string: where they stand, what they are, "
        "and how large the matrix is. With skip_empty, empty pieces are left out. An empty "
        "delimiter splits into single bytes. An empty string has no pieces.",
    .inputs = {{"input", "string"}, {"delimiter", "string"}},
    .outputs = split_outputs,
    .attrs = {{"skip_empty", true}},
    .infer = infer_split,
    .no_gradient = "text has none",
    .example = R"(
y = StringSplit(string["a b", "", " c"], string(" "))
fetch y = i64[[0, 0], [0, 1], [2, 0]]
fetch y:1 = string["a", "b", "c"]
fetch y:2 = i64[3, 2]
)",
};

} // namespace troupe::ops::string_split_op
