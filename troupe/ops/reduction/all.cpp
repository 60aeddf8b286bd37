// All: whether all elements are true, over some axes.
#include "troupe/ops/reduction/shared/reduction.hpp"
#include "troupe/runtime/graph/simplify.hpp"

namespace troupe::ops::all_op {

extern constexpr op_def all{
    .name = "All",
    .doc = "Says whether all elements along the axes in reduction_indices are true.\n\nNegative "
           "axes count from the end; an empty list of axes changes nothing. With keep_dims the "
           "reduced axes stay, with extent 1. All of nothing are true.",
    .inputs = {{"input", "bool"}, on_host("reduction_indices", "Tidx")},
    .outputs = {{"output", "bool"}},
    .attrs = {{"keep_dims", false}, {"Tidx", index_types, dtype::i32}},
    .infer = infer_reduction,
    .no_gradient = "truth values have no gradient",
    .simplify = simplify_reduction,
    .example = R"(
y = All(bool[[true, true], [true, false]], i32[1])
fetch y = bool[true, false]
)",
};

} // namespace troupe::ops::all_op
