// Round: the whole number nearest to each element.
#include "troupe/runtime/graph/gradient.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::round_op {
namespace {

// It is constant between its steps.
edges gradient(gradient_context&) { return {edge{}}; }

} // namespace

extern constexpr op_def round{
    .name = "Round",
    .doc = "Rounds each element to the nearest whole number, halves to the even one.\n\nWhole "
           "numbers stay as they are. The gradient is 0.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating | signed_integers}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Round(f32[0.5, 1.5, -2.6])
fetch y = f32[0, 2, -3]
)",
};

} // namespace troupe::ops::round_op
