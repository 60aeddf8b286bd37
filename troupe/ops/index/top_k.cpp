// TopK: the greatest elements of each row; k is an attribute.
#include "troupe/ops/index/shared/top_k.hpp"

namespace troupe::ops::top_k_op {
namespace {

result<shapes> infer(const infer_context& at) { return infer_top_k(at, at.attr<int64_t>("k")); }

} // namespace

extern constexpr op_def top_k{
    .name = "TopK",
    .doc =
        "Gives the k greatest elements along the last axis, the greatest first, and their places "
        "there.\n\nOf equal ones the first come first; NaN counts as greater than every number. "
        "The attribute sorted allows, but does not need, another order.",
    .inputs = {{"input", "T"}},
    .outputs = {{"values", "T"}, {"indices", "i32"}},
    .attrs = {{"k", at_least{0}}, {"sorted", true}, {"T", ranked_types}},
    .infer = infer,
    .gradient = top_k_gradient,
    .example = R"(
y = TopK(f32[[1, 5, 3], [6, 2, 4]]) k=2
fetch y = f32[[5, 3], [6, 4]]
fetch y:1 = i32[[1, 2], [0, 2]]
)",
};

} // namespace troupe::ops::top_k_op
