// NthElement: order statistics, such as medians.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::nth_element_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(at.of_rank(1, 0));
  const auto& dims = at.input(0);
  if (!dims.has_rank())
    return shapes{partial_shape::unknown()};
  if (dims.rank() == 0)
    return at.invalid("input must have a last axis, got a scalar");
  auto size = dims[dims.rank() - 1];
  if (auto n = at.integers(1);
      n && (n->front() < 0 || (size != unknown_extent && n->front() >= size)))
    return at.invalid("n must be in [0, ", size, "), got ", n->front());
  return shapes{
      partial_shape{std::vector<int64_t>{dims.extents().begin(), dims.extents().end() - 1}}};
}

// Elements that tie share it.
edges gradient(gradient_context& at) {
  auto x = at.input(0), last = constant_like(x, tensor::scalar(int32_t{-1}));
  auto found = build("ExpandDims", {at.output(0), last});
  auto dy = build("ExpandDims", {at.output_gradient(0), last});
  auto those = cast_to(build("Equal", {x, found}), x.type());
  return {those / sum_last(those) * dy, {}};
}

} // namespace

extern constexpr op_def nth_element{
    .name = "NthElement",
    .doc = "Finds the n-th smallest element, counted from 0, of each row of the last axis.\n\n"
           "With reverse the n-th greatest. NaN counts as greater than all numbers.",
    .inputs = {{"input", "T"}, on_host("n", "i32")},
    .outputs = {{"values", "T"}},
    .attrs = {{"reverse", false}, {"T", real_numbers}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
x = f32[[3, 1, 2], [5, 4, 9]]
second = NthElement(x, i32(1))
greatest = NthElement(x, i32(0)) reverse=true
fetch second = f32[2, 5]
fetch greatest = f32[3, 9]
)",
};

} // namespace troupe::ops::nth_element_op
