// Splits strings at separators.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::string_split_op {
namespace {

constexpr port_list split_outputs{{"indices", "i64"}, {"values", "string"}, {"shape", "i64"}};

result<shapes> infer_split(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 1));
  TROUPE_TRY(at.of_rank(1, 0));
  return shapes{{unknown_extent, 2}, {unknown_extent}, shape{2}};
}

} // namespace

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

} // namespace troupe::ops::string_split_op
