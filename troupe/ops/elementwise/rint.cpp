// Rint: the whole number nearest to each element.
#include "troupe/runtime/graph/gradient.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::rint_op {
namespace {

// It is constant between its steps.
edges gradient(gradient_context&) { return {edge{}}; }

} // namespace

extern constexpr op_def rint{
    .name = "Rint",
    .doc = "Rounds each element to the nearest whole number, halves to the even one.\n\nThe "
           "gradient is 0.",
    .inputs = {{"x", "T"}},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", floating}},
    .effects = effect::forwardable | effect::elementwise,
    .infer = infer::same_as_input,
    .gradient = gradient,
    .example = R"(
y = Rint(f32[0.5, 1.5, -2.6])
fetch y = f32[0, 2, -3]
)",
};

} // namespace troupe::ops::rint_op
