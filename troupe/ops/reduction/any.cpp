// Any: whether any element is true, over some axes.
#include "troupe/ops/reduction/shared/reduction.hpp"
#include "troupe/runtime/graph/simplify.hpp"

namespace troupe::ops::any_op {

extern constexpr op_def any{
    .name = "Any",
    .doc = "Says whether any element along the axes in reduction_indices is true.\n\nNegative axes "
           "count from the end; an empty list of axes changes nothing. With keep_dims the reduced "
           "axes stay, with extent 1. Of nothing none is true.",
    .inputs = {{"input", "bool"}, on_host("reduction_indices", "Tidx")},
    .outputs = {{"output", "bool"}},
    .attrs = {{"keep_dims", false}, {"Tidx", index_types, dtype::i32}},
    .infer = infer_reduction,
    .no_gradient = "truth values have no gradient",
    .simplify = simplify_reduction,
    .example = R"(
y = Any(bool[[false, true], [false, false]], i32[1])
fetch y = bool[true, false]
)",
};

} // namespace troupe::ops::any_op
