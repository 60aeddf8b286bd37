// Sub: the difference of each two elements.
#include "troupe/ops/build.hpp"
#include "troupe/runtime/infer.hpp"

namespace troupe::ops {
namespace {

edges gradient(gradient_context& at) {
  auto x = at.input(0), y = at.input(1), dz = at.output_gradient(0);
  return {unbroadcast(dz, x, y), unbroadcast(-dz, y, x)};
}

} // namespace

extern constexpr op_def sub{
    .name = "Sub",
    .doc = "Subtracts y from x, element by element.\n\nBroadcasts by NumPy's rules. Whole numbers "
           "wrap around.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", numbers}},
    .effects = effect::forwardable,
    .infer = infer::broadcast_inputs,
    .gradient = gradient,
    .example = R"(
z = Sub(f32[[1, 2], [3, 4]], f32[[1], [2]])
fetch z = f32[[0, 1], [1, 2]]
)",
};

} // namespace troupe::ops
