// Add: the sum of each two elements.
#include "troupe/ops/build.hpp"
#include "troupe/runtime/infer.hpp"
#include "troupe/runtime/simplify.hpp"

namespace troupe::ops {
namespace {

edges gradient(gradient_context& at) {
  auto x = at.input(0), y = at.input(1), dz = at.output_gradient(0);
  return {unbroadcast(dz, x, y), unbroadcast(dz, y, x)};
}

// x + 0 = x
edge simplify(simplify_context& at) {
  for (int i : {0, 1})
    if (at.is_all(1 - i, 0) && at.keeps_shape_of(i))
      return at.input(i);
  return {};
}

} // namespace

extern constexpr op_def add{
    .name = "Add",
    .doc = "Adds x and y, element by element.\n\nBroadcasts by NumPy's rules. Whole numbers wrap "
           "around; strings are joined.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", numbers | one_of(dtype::string)}},
    .effects =
        effect::forwardable | effect::commutative | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = gradient,
    .simplify = simplify,
    .example = R"(
z = Add(f32[[1, 2], [3, 4]], f32[10, 20])
fetch z = f32[[11, 22], [13, 24]]
)",
};

} // namespace troupe::ops
