// IsFinite: where an element is neither infinite nor NaN.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::is_finite_op {

extern constexpr op_def is_finite{
    .name = "IsFinite",
    .doc = "Says which elements are neither infinite nor NaN.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "bool"}},
    .attrs = {{"T", floating}},
    .effects = effect::elementwise,
    .infer = infer::same_as_input,
    .no_gradient = "truth values have no gradient",
    .example = R"(
y = IsFinite(f32[1, nan, inf])
fetch y = bool[true, false, false]
)",
};

} // namespace troupe::ops::is_finite_op
