// Shapes as values.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::shape_op {
namespace {

result<shapes> infer_shape(const infer_context& at) {
  const auto& dims = at.input(0);
  return shapes{partial_shape{dims.has_rank() ? dims.rank() : unknown_extent}};
}

result<shapes> infer_shape_n(const infer_context& at) {
  shapes vectors;
  for (int i = 0; i < at.inputs(); ++i) {
    const auto& dims = at.input(i);
    vectors.push_back({dims.has_rank() ? dims.rank() : unknown_extent});
  }
  return vectors;
}

} // namespace

extern constexpr op_def shape{
    .name = "Shape",
    .doc = "Gives the extents of its input as a vector.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "out_type"}},
    .attrs = {{"T", any_type}, {"out_type", index_types, dtype::i32}},
    .effects = effect::reads_shapes_only,
    .infer = infer_shape,
    .no_gradient = "extents are whole numbers",
    .example = R"(
y = Shape(f32[[1, 2, 3], [4, 5, 6]])
fetch y = i32[2, 3]
)",
};

extern constexpr op_def shape_n{
    .name = "ShapeN",
    .doc = "Gives the extents of each of its inputs as a vector.",
    .inputs = {{"input", "T", "N"}},
    .outputs = {{"output", "out_type", "N"}},
    .attrs = {{"N", at_least{1}}, {"T", any_type}, {"out_type", index_types, dtype::i32}},
    .effects = effect::reads_shapes_only,
    .infer = infer_shape_n,
    .no_gradient = "extents are whole numbers",
    .example = R"(
y = ShapeN(f32[[1, 2, 3], [4, 5, 6]], f32(1))
fetch y = i32[2, 3]
fetch y:1 = i32{0}[]
)",
};

extern constexpr op_def rank{
    .name = "Rank",
    .doc = "Gives the number of axes of its input.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "i32"}},
    .attrs = {{"T", any_type}},
    .effects = effect::reads_shapes_only,
    .infer = infer::scalar,
    .no_gradient = "it is a whole number",
    .example = R"(
y = Rank(f32[[1, 2, 3], [4, 5, 6]])
fetch y = i32(2)
)",
};

extern constexpr op_def size{
    .name = "Size",
    .doc = "Gives the number of elements of its input.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "out_type"}},
    .attrs = {{"T", any_type}, {"out_type", index_types, dtype::i32}},
    .effects = effect::reads_shapes_only,
    .infer = infer::scalar,
    .no_gradient = "extents are whole numbers",
    .example = R"(
y = Size(f32[[1, 2, 3], [4, 5, 6]])
fetch y = i32(6)
)",
};

} // namespace troupe::ops::shape_op
