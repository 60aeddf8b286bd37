// FloorDiv: the quotient of each two elements, rounded down.
#include "troupe/runtime/graph/gradient.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::floor_div_op {
namespace {

// It is constant between its steps.
edges gradient(gradient_context&) { return {edge{}, edge{}}; }

} // namespace

extern constexpr op_def floor_div{
    .name = "FloorDiv",
    .doc = "Divides x by y, element by element, and rounds down.\n\nBroadcasts by NumPy's rules. "
           "Dividing whole numbers by zero fails. The gradient is 0.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", real_numbers}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = gradient,
    .example = R"(
z = FloorDiv(f32[7, -7, 6], f32(2))
n = FloorDiv(i32[7, -7], i32(2))
fetch z = f32[3, -4, 3]
fetch n = i32[3, -4]
)",
};

} // namespace troupe::ops::floor_div_op
