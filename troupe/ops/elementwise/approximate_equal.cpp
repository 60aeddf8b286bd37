// ApproximateEqual: where x is about y.
#include "troupe/ops/elementwise/shared/output_gradients.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::approximate_equal_op {

extern constexpr op_def approximate_equal{
    .name = "ApproximateEqual",
    .doc = "Says where the difference of x and y is within the tolerance.\n\nBoth must have the "
           "same shape. NaN is near to nothing.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "bool"}},
    .attrs = {{"T", numbers}, {"tolerance", 1e-5}},
    .effects = effect::commutative,
    .infer = infer_paired,
    .no_gradient = "truth values have no gradient",
    .example = R"(
x = Placeholder dtype=f32 shape=[-1]
y = Placeholder dtype=f32 shape=[-1]
z = ApproximateEqual(x, y) tolerance=0.1
feed x = f32[1, 2, 3]
feed y = f32[1, 2.05, 3.5]
fetch z = bool[true, true, false]
)",
};

} // namespace troupe::ops::approximate_equal_op
