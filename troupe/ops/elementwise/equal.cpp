// Equal: where x is equal to y.
#include "troupe/ops/elementwise/shared/equality.hpp"

namespace troupe::ops::equal_op {

extern constexpr op_def equal{
    .name = "Equal",
    .doc = "Says where x is equal to y.\n\n"
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
z = Equal(f32[1, 2, 3], f32(2))
fetch z = bool[false, true, false]
)",
};

} // namespace troupe::ops::equal_op
