// IsNan: where an element is no numbers (NaN).
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::is_nan_op {

extern constexpr op_def is_nan{
    .name = "IsNan",
    .doc = "Says which elements are no numbers (NaN).",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "bool"}},
    .attrs = {{"T", floating}},
    .effects = effect::elementwise,
    .infer = infer::same_as_input,
    .no_gradient = "truth values have no gradient",
    .example = R"(
y = IsNan(f32[1, nan, inf])
fetch y = bool[false, true, false]
)",
};

} // namespace troupe::ops::is_nan_op
