// TruncateDiv: the quotient of each two elements, rounded towards zero.
#include "troupe/runtime/graph/gradient.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::truncate_div_op {
namespace {

// It is constant between its steps.
edges gradient(gradient_context&) { return {edge{}, edge{}}; }

} // namespace

extern constexpr op_def truncate_div{
    .name = "TruncateDiv",
    .doc = "Divides x by y, element by element, and rounds towards zero.\n\nBroadcasts by NumPy's "
           "rules. Dividing whole numbers by zero fails. The gradient is 0.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", real_numbers}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = gradient,
    .example = R"(
z = TruncateDiv(f32[7, -7, 6], f32(2))
n = TruncateDiv(i32[7, -7], i32(2))
fetch z = f32[3, -3, 3]
fetch n = i32[3, -3]
)",
};

} // namespace troupe::ops::truncate_div_op
