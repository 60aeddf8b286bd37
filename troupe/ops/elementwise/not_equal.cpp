// NotEqual: where x differs from y.
#include "troupe/ops/elementwise/shared/equality.hpp"

namespace troupe::ops::not_equal_op {

extern constexpr op_def not_equal{
    .name = "NotEqual",
    .doc = "Says where x differs from y.\n\n"
           "Broadcasts by NumPy's rules. NaN differs from everything and is neither greater nor "
           "less. Where shapes do not fit, that is an error, or one answer for the whole if "
           "incompatible_shape_error is false.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "bool"}},
    .attrs = {{"T", any_type}, {"incompatible_shape_error", true}},
    .effects =
        effect::forwardable | effect::commutative | effect::elementwise | effect::broadcasting,
    .infer = infer_equality,
    .no_gradient = "truth values have no gradient",
    .example = R"(
z = NotEqual(f32[1, 2, 3], f32(2))
fetch z = bool[true, false, true]
)",
};

} // namespace troupe::ops::not_equal_op
