// Reshape: the same elements in another shape.
#include "troupe/ops/build.hpp"
#include "troupe/ops/dims.hpp"
#include "troupe/runtime/infer.hpp"

#include <algorithm>

namespace troupe::ops {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto wanted, listed_shape(at, 1));
  auto constant = at.integers(1);
  if (auto elements = at.input(0).elements(); constant && elements != unknown_extent) {
    TROUPE_ASSIGN(auto dims, fit_elements(*constant, elements));
    return shapes{dims};
  }
  if (constant && std::ranges::count(*constant, unknown_extent) > 1)
    return at.invalid("only one extent may be -1, got ", wanted);
  return shapes{wanted};
}

edges gradient(gradient_context& at) {
  return {reshaped(at.output_gradient(0), shape_of(at.input(0))), {}};
}

} // namespace

extern constexpr op_def reshape{
    .name = "Reshape",
    .doc = "Gives its input another shape of as many elements.\n\nOne extent may be -1: it becomes "
           "what is left. The memory is shared.",
    .inputs = {{"tensor", "T"}, {"shape", "Tshape"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"Tshape", index_types, dtype::i32}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = Reshape(f32[[1, 2, 3], [4, 5, 6]], i32[3, -1])
fetch y = f32[[1, 2], [3, 4], [5, 6]]
)",
};

} // namespace troupe::ops
