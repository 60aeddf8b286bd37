// ParallelConcat: concatenates rows into a declared shape.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::parallel_concat_op {
namespace {

result<shapes> infer(const infer_context& at) {
  const auto& declared_shape = at.attr<partial_shape>("shape");
  if (declared_shape.elements() < 0 || declared_shape.rank() == 0)
    return at.invalid("shape must tell all extents, and at least one, got ", declared_shape);
  if (declared_shape[0] != at.inputs())
    return at.invalid("shape must have ", at.inputs(), " rows, one for each value, got ",
                      declared_shape);
  auto row = declared_shape;
  row.set(0, 1);
  for (int i = 0; i < at.inputs(); ++i)
    if (!row.compatible(at.input(i)))
      return at.invalid("value ", i, " must have the shape ", row, ", got ", at.input(i));
  return shapes{declared_shape};
}

edges gradient(gradient_context& at) {
  edges parts;
  auto dy = at.output_gradient(0);
  auto axis = constant_like(dy, tensor::scalar(int32_t{0}));
  auto first = build("Split", {axis, dy}, {{"num_split", at.inputs()}});
  for (int i = 0; i < at.inputs(); ++i)
    parts.push_back({first.node, i});
  return parts;
}

} // namespace

extern constexpr op_def parallel_concat{
    .name = "ParallelConcat",
    .doc = "Joins tensors of one row each along axis 0.\n\n`shape` is that of the result.",
    .inputs = {{"values", "T", "N"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"N", at_least{1}}, {"T", any_type}, {"shape", attr_kind::shape}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = ParallelConcat(f32[[1, 2]], f32[[3, 4]]) shape=[2,2]
fetch y = f32[[1, 2], [3, 4]]
)",
};

} // namespace troupe::ops::parallel_concat_op
