// The greatest elements of rows, and the element of a given rank.
#include "troupe/ops/index/shared/top_k.hpp"
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::top_k_op {
namespace {

result<shapes> infer_top_k_v1(const infer_context& at) {
  return infer_top_k(at, at.attr<int64_t>("k"));
}

result<shapes> infer_top_k_v2(const infer_context& at) {
  TROUPE_TRY(at.of_rank(1, 0));
  auto k = at.integers(1);
  return infer_top_k(at, k ? std::optional{k->front()} : std::nullopt);
}

result<shapes> infer_nth_element(const infer_context& at) {
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

// Tied elements share the gradient.
edges gradient(gradient_context& at) {
  auto x = at.input(0), last = constant_like(x, tensor::scalar(int32_t{-1}));
  auto selected = build("ExpandDims", {at.output(0), last});
  auto dy = build("ExpandDims", {at.output_gradient(0), last});
  auto is_selected = cast_to(build("Equal", {x, selected}), x.type());
  return {is_selected / sum_last(is_selected) * dy, {}};
}

} // namespace

extern constexpr op_def top_k{
    .name = "TopK",
    .doc =
        "Gives the k greatest elements along the last axis, the greatest first, and their places "
        "there.\n\nOf equal ones the first come first; NaN counts as greater than every number. "
        "The attribute sorted allows, but does not need, another order.",
    .inputs = {{"input", "T"}},
    .outputs = {{"values", "T"}, {"indices", "i32"}},
    .attrs = {{"k", at_least{0}}, {"sorted", true}, {"T", ranked_types}},
    .infer = infer_top_k_v1,
    .gradient = top_k_gradient,
    .example = R"(
y = TopK(f32[[1, 5, 3], [6, 2, 4]]) k=2
fetch y = f32[[5, 3], [6, 4]]
fetch y:1 = i32[[1, 2], [0, 2]]
)",
};

extern constexpr op_def top_k_v2{
    .name = "TopKV2",
    .doc =
        "Gives the k greatest elements along the last axis, the greatest first, and their places "
        "there.\n\nOf equal ones the first come first; NaN counts as greater than every number. "
        "The attribute sorted allows, but does not need, another order.",
    .inputs = {{"input", "T"}, on_host("k", "Tk")},
    .outputs = {{"values", "T"}, {"indices", "index_type"}},
    .attrs = {{"sorted", true},
              {"T", ranked_types},
              {"Tk", index_types, dtype::i32},
              {"index_type", index_types, dtype::i32}},
    .infer = infer_top_k_v2,
    .gradient = top_k_gradient,
    .example = R"(
y = TopKV2(f32[[1, 5, 3], [6, 2, 4]], i32(2))
fetch y = f32[[5, 3], [6, 4]]
fetch y:1 = i32[[1, 2], [0, 2]]
)",
};

extern constexpr op_def nth_element{
    .name = "NthElement",
    .doc = "Finds the n-th smallest element, counted from 0, of each row of the last axis.\n\n"
           "With reverse the n-th greatest. NaN counts as greater than all numbers.",
    .inputs = {{"input", "T"}, on_host("n", "i32")},
    .outputs = {{"values", "T"}},
    .attrs = {{"reverse", false}, {"T", real_numbers}},
    .infer = infer_nth_element,
    .gradient = gradient,
    .example = R"(
x = f32[[3, 1, 2], [5, 4, 9]]
second = NthElement(x, i32(1))
greatest = NthElement(x, i32(0)) reverse=true
fetch second = f32[2, 5]
fetch greatest = f32[3, 9]
)",
};

} // namespace troupe::ops::top_k_op
