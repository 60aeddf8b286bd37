// Tests for infinities and NaN.
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

} // namespace troupe::ops::is_finite_op
