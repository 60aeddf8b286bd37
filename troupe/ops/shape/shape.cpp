// Shape: the extents of a tensor.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::shape_op {
namespace {

result<shapes> infer(const infer_context& at) {
  const auto& dims = at.input(0);
  return shapes{partial_shape{dims.has_rank() ? dims.rank() : unknown_extent}};
}

} // namespace

extern constexpr op_def shape{
    .name = "Shape",
    .doc = "Gives the extents of its input as a vector.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "out_type"}},
    .attrs = {{"T", any_type}, {"out_type", index_types, dtype::i32}},
    .effects = effect::of_shape,
    .infer = infer,
    .no_gradient = "extents are whole numbers",
    .example = R"(
y = Shape(f32[[1, 2, 3], [4, 5, 6]])
fetch y = i32[2, 3]
)",
};

} // namespace troupe::ops::shape_op
