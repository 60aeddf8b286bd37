#include "troupe/ops/recurrent/shared/recurrent.hpp"

#include <algorithm>

namespace troupe::ops {
namespace {

result<int64_t> agreed(const infer_context& at, std::string_view name, int64_t a, int64_t b) {
  if (a != b && a != unknown_extent && b != unknown_extent)
    return at.invalid("the inputs disagree about the ", name, ": ", a, " or ", b);
  return a == unknown_extent ? b : a;
}

} // namespace

result<lstm_shape> join_lstm(const infer_context& at, int first) {
  TROUPE_ASSIGN(auto x, at.of_rank(first, 2 + first));
  TROUPE_ASSIGN(auto cs, at.of_rank(first + 1, 2));
  TROUPE_ASSIGN(auto h, at.of_rank(first + 2, 2));
  TROUPE_ASSIGN(auto w, at.of_rank(first + 3, 2));
  TROUPE_ASSIGN(auto state, merge(cs, h));
  if (w[1] != unknown_extent && w[1] % 4 != 0)
    return at.invalid("w must have four columns for each cell, got shape ", w);
  auto cells = w[1] == unknown_extent ? w[1] : w[1] / 4;
  lstm_shape joined{};
  if (first == 1) {
    TROUPE_TRY(at.of_rank(0, 0));
    joined.steps = {x[0]};
  }
  TROUPE_ASSIGN(joined.batch, agreed(at, "size of the batch", x[first], state[0]));
  TROUPE_ASSIGN(joined.cells, agreed(at, "number of cells", state[1], cells));
  auto inputs = x[first + 1];
  if (w[0] != unknown_extent && joined.cells != unknown_extent && inputs != unknown_extent)
    TROUPE_TRY(agreed(at, "rows of w", w[0], inputs + joined.cells));
  return joined;
}

status only_outputs(const gradient_context& at, std::initializer_list<int> differentiable) {
  for (int i = 0; i < at.source_node().outputs(); ++i)
    if (at.has_output_gradient(i) && std::ranges::find(differentiable, i) == differentiable.end())
      return invalid("output ", at.source_node().op().outputs[static_cast<size_t>(i)].name,
                     " is there for the gradient alone and cannot be differentiated itself");
  return {};
}

edge joint_weights_gradient(edge a, edge b, edge product_gradient) {
  auto last_axis = constant_like(a, tensor::scalar(int32_t{1}));
  auto joined = build("Concat", {last_axis, a, b});
  return build("MatMul", {joined, product_gradient}, {{"transpose_a", true}});
}

std::array<edge, 3> joint_product_gradients(edge a, edge b, edge w, edge product_gradient) {
  auto joined_gradient = build("MatMul", {product_gradient, w}, {{"transpose_b", true}});
  auto size_a = shape_of(a);
  return {build("Slice", {joined_gradient, integers_like(a, {0, 0}), size_a}),
          build("Slice", {joined_gradient, size_a * integers_like(a, {0, 1}), shape_of(b)}),
          joint_weights_gradient(a, b, product_gradient)};
}

edges sequence_gradient(gradient_context& at, std::string op) {
  if (auto outcome = only_outputs(at, {1, 6}); !outcome)
    return at.fail(outcome.message());
  std::vector<edge> gradients;
  for (int i = 0; i < at.inputs(); ++i)
    gradients.push_back(at.input(i));
  for (int i = 0; i < 7; ++i)
    gradients.push_back(at.output(i));
  gradients.push_back(at.output_gradient(1));
  gradients.push_back(at.output_gradient(6));
  auto first = at.op(std::move(op), gradients, {{"use_peephole", at.attr<bool>("use_peephole")}});
  edges to{{}};
  for (int i = 0; i < 8; ++i)
    to.push_back(first ? edge{first.node, i} : edge{});
  return to;
}

result<shapes> infer_sequence_gradient(const infer_context& at) {
  TROUPE_ASSIGN(auto joined, join_lstm(at, 1));
  auto inputs = joined.outputs();
  for (int i = 9; i < at.inputs(); ++i) {
    TROUPE_ASSIGN(inputs, merge(inputs, at.input(i)));
  }
  shapes out;
  for (int i = 1; i < 9; ++i)
    out.push_back(at.input(i));
  return out;
}

result<partial_shape> gru_state(const infer_context& at) {
  TROUPE_ASSIGN(auto x, at.of_rank(0, 2));
  TROUPE_ASSIGN(auto state, at.of_rank(1, 2));
  TROUPE_ASSIGN(auto w_ru, at.of_rank(2, 2));
  TROUPE_ASSIGN(auto w_c, at.of_rank(3, 2));
  if (w_ru[1] != unknown_extent && w_ru[1] % 2 != 0)
    return at.invalid("w_ru must have two columns for each cell, got shape ", w_ru);
  auto cells = w_ru[1] == unknown_extent ? w_ru[1] : w_ru[1] / 2;
  TROUPE_ASSIGN(auto batch, agreed(at, "size of the batch", x[0], state[0]));
  TROUPE_ASSIGN(cells, agreed(at, "number of cells", cells, w_c[1]));
  TROUPE_ASSIGN(cells, agreed(at, "number of cells", cells, state[1]));
  TROUPE_ASSIGN(auto rows, agreed(at, "rows of w_ru and w_c", w_ru[0], w_c[0]));
  if (rows != unknown_extent && cells != unknown_extent && x[1] != unknown_extent)
    TROUPE_TRY(agreed(at, "rows of w_ru", rows, x[1] + cells));
  return partial_shape{batch, cells};
}

} // namespace troupe::ops
