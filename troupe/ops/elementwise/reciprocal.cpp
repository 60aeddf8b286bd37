// Reciprocal: one divided by each element.
#include "troupe/ops/elementwise/reciprocal.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::reciprocal_op {

extern constexpr op_def reciprocal{
    .name = "Reciprocal",
    .doc = "Divides one by each element.\n\nIt is infinite at 0.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | complex_types}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = reciprocal_gradient,
    .example = R"(
y = Reciprocal(f32[1, -2, 0.25])
fetch y = f32[1, -0.5, 4]
)",
};

} // namespace troupe::ops::reciprocal_op
