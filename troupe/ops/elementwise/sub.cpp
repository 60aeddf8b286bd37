// Sub: the difference of each two elements.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/simplify.hpp"

namespace troupe::ops::sub_op {
namespace {

edges gradient(gradient_context& at) {
  auto x = at.input(0), y = at.input(1), dz = at.output_gradient(0);
  return {unbroadcast(dz, x, y), unbroadcast(-dz, y, x)};
}

// x - 0 = x
edge simplify(simplify_context& at) {
  return at.is_all(1, 0) && at.keeps_shape_of(0) ? at.input(0) : edge{};
}

} // namespace

extern constexpr op_def sub{
    .name = "Sub",
    .doc = "Subtracts y from x, element by element.\n\nBroadcasts by NumPy's rules. Whole numbers "
           "wrap around.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", numbers}},
    .effects = effect::forwardable | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = gradient,
    .simplify = simplify,
    .example = R"(
z = Sub(f32[[1, 2], [3, 4]], f32[[1], [2]])
fetch z = f32[[0, 1], [1, 2]]
)",
};

} // namespace troupe::ops::sub_op
