// Cross: the cross product of vectors of three elements.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::cross_op {
namespace {

result<shapes> infer(const infer_context& at) {
  auto joint = merge(at.input(0), at.input(1));
  if (!joint)
    return at.invalid("a and b must have the same shape, got ", at.input(0), " and ", at.input(1));
  if (!joint->has_rank())
    return shapes{*joint};
  if (joint->rank() == 0 ||
      ((*joint)[joint->rank() - 1] != 3 && (*joint)[joint->rank() - 1] != unknown_extent))
    return at.invalid("the last axis must have 3 elements, got shape ", *joint);
  joint->set(joint->rank() - 1, 3);
  return shapes{*joint};
}

edges gradient(gradient_context& at) {
  auto dy = at.output_gradient(0);
  return {build("Cross", {at.input(1), dy}), build("Cross", {dy, at.input(0)})};
}

} // namespace

extern constexpr op_def cross{
    .name = "Cross",
    .doc = "Takes the cross product of each vector of a and that of b.\n\nVectors lie along the "
           "last axis, which has 3 elements. Both have the same shape.",
    .inputs = {{"a", "T"}, {"b", "T"}},
    .outputs = {{"product", "T"}},
    .attrs = {{"T", real_numbers}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = Cross(f32[[1, 0, 0], [1, 2, 3]], f32[[0, 1, 0], [3, 2, 1]])
fetch y = f32[[0, 0, 1], [-4, 8, -4]]
)",
};

} // namespace troupe::ops::cross_op
