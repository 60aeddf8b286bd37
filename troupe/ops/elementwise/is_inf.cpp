// IsInf: where an element is infinite.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::is_inf_op {

extern constexpr op_def is_inf{
    .name = "IsInf",
    .doc = "Says which elements are infinite.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "bool"}},
    .attrs = {{"T", floating}},
    .effects = effect::elementwise,
    .infer = infer::same_as_input,
    .no_gradient = "truth values have no gradient",
    .example = R"(
y = IsInf(f32[1, nan, inf, -inf])
fetch y = bool[false, false, true, true]
)",
};

} // namespace troupe::ops::is_inf_op
