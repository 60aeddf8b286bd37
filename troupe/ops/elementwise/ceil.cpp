// Ceil: the least whole number that is not less than each element.
#include "troupe/runtime/graph/gradient.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::ceil_op {
namespace {

// It is constant between its steps.
edges gradient(gradient_context&) { return {edge{}}; }

} // namespace

extern constexpr op_def ceil{
    .name = "Ceil",
    .doc = "Rounds each element up to a whole number.\n\nThe gradient is 0.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Ceil(f32[1.2, -1.8, 3])
fetch y = f32[2, -1, 3]
)",
};

} // namespace troupe::ops::ceil_op
