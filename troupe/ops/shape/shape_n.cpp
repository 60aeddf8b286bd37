// ShapeN: the extents of several tensors.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::shape_n_op {
namespace {

result<shapes> infer(const infer_context& at) {
  shapes vectors;
  for (int i = 0; i < at.inputs(); ++i) {
    const auto& dims = at.input(i);
    vectors.push_back({dims.has_rank() ? dims.rank() : unknown_extent});
  }
  return vectors;
}

} // namespace

extern constexpr op_def shape_n{
    .name = "ShapeN",
    .doc = "Gives the extents of each of its inputs as a vector.",
    .inputs = {{"input", "T", "N"}},
    .outputs = {{"output", "out_type", "N"}},
    .attrs = {{"N", at_least{1}}, {"T", any_type}, {"out_type", index_types, dtype::i32}},
    .effects = effect::of_shape,
    .infer = infer,
    .no_gradient = "extents are whole numbers",
    .example = R"(
y = ShapeN(f32[[1, 2, 3], [4, 5, 6]], f32(1))
fetch y = i32[2, 3]
fetch y:1 = i32{0}[]
)",
};

} // namespace troupe::ops::shape_n_op
