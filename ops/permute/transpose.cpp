// Permutations of axes.
#include "troupe/ops/permute/shared/transpose.hpp"
#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/define/dims.hpp"
#include "troupe/runtime/graph/op.hpp"
#include "troupe/runtime/graph/simplify.hpp"

#include <algorithm>

namespace troupe::ops::transpose_op {
namespace {

edges transpose_gradient(gradient_context& at) {
  auto order = at.input(1);
  return {build("Transpose", {at.output_gradient(0), build("InvertPermutation", {order})}), {}};
}

// Two transposes are merged into one; an identity permutation is removed.
edge simplify(simplify_context& at) {
  auto x = at.input(0);
  auto rank = x.dims().rank();
  auto order = at.integers(1);
  auto axes = permutation_of(order.value_or(std::vector<int64_t>{}), rank);
  if (!order || !axes)
    return {};
  std::vector<int64_t> joint(axes->begin(), axes->begin() + rank);
  if (auto* inner = at.same_op_behind(0)) {
    auto first = permutation_of(
        constant_integers(inner->inputs()[1]).value_or(std::vector<int64_t>{}), rank);
    if (first && rank > 0) {
      x = inner->inputs()[0];
      for (auto& axis : joint)
        axis = (*first)[static_cast<size_t>(axis)];
    }
  }
  if (std::ranges::is_sorted(joint))
    return x;
  return is_same_edge(x, at.input(0)) ? edge{}
                                      : at.op("Transpose", {x, at.constant(tensor::vector(joint))});
}

edges conjugate_transpose_gradient(gradient_context& at) {
  auto back = build("InvertPermutation", {at.input(1)});
  return {build("ConjugateTranspose", {at.output_gradient(0), back}), {}};
}

} // namespace

extern constexpr op_def transpose{
    .name = "Transpose",
    .doc = "Makes axis perm[i] of the input axis i of the output.",
    .inputs = {{"x", "T"}, on_host("perm", "Tperm")},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", any_type}, {"Tperm", index_types, dtype::i32}},
    .effects = effect::autocast_infer,
    .infer = infer_transposition,
    .gradient = transpose_gradient,
    .simplify = simplify,
    .example = R"(
y = Transpose(f32[[1, 2, 3], [4, 5, 6]], i32[1, 0])
fetch y = f32[[1, 4], [2, 5], [3, 6]]
)",
};

extern constexpr op_def conjugate_transpose{
    .name = "ConjugateTranspose",
    .doc = "Makes axis perm[i] of the input axis i of the output, and negates imaginary parts.",
    .inputs = {{"x", "T"}, on_host("perm", "Tperm")},
    .outputs = {{"y", "T"}},
    .attrs = {{"T", any_type}, {"Tperm", index_types, dtype::i32}},
    .infer = infer_transposition,
    .gradient = conjugate_transpose_gradient,
    .example = R"(
y = ConjugateTranspose(c64[[[1, 2], [3, 0]]], i32[1, 0])
z = ConjugateTranspose(f32[[1, 2]], i32[1, 0])
fetch y = c64[[[1, -2]], [[3, 0]]]
fetch z = f32[[1], [2]]
)",
};

} // namespace troupe::ops::transpose_op
