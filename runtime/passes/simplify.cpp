#include "troupe/runtime/graph/simplify.hpp"

#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/transfer_attr.hpp"
#include "troupe/runtime/passes/passes.hpp"
#include "troupe/runtime/passes/rewriter.hpp"

#include <algorithm>
#include <complex>

namespace troupe {
namespace {

template <class T>
bool all_equal(const tensor& values, double value) {
  return std::ranges::all_of(values.values<T>(), [&](const T& element) {
    if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>)
      return static_cast<double>(static_cast<float>(element)) == value;
    else
      return element == T(value);
  });
}

bool all_equal(const tensor& values, double value) {
  switch (values.type()) {
    case dtype::u8: return all_equal<uint8_t>(values, value);
    case dtype::u16: return all_equal<uint16_t>(values, value);
    case dtype::u32: return all_equal<uint32_t>(values, value);
    case dtype::u64: return all_equal<uint64_t>(values, value);
    case dtype::i8: return all_equal<int8_t>(values, value);
    case dtype::i16: return all_equal<int16_t>(values, value);
    case dtype::i32: return all_equal<int32_t>(values, value);
    case dtype::i64: return all_equal<int64_t>(values, value);
    case dtype::f16: return all_equal<float16>(values, value);
    case dtype::bf16: return all_equal<bfloat16>(values, value);
    case dtype::f32: return all_equal<float>(values, value);
    case dtype::f64: return all_equal<double>(values, value);
    case dtype::c64: return all_equal<std::complex<float>>(values, value);
    case dtype::c128: return all_equal<std::complex<double>>(values, value);
    case dtype::none:
    case dtype::boolean:
    case dtype::string:
    case dtype::variant: break;
  }
  return false;
}

// Returns whether broadcasting `small` against `big` always results in the shape of `big`.
bool fits_into(const partial_shape& small, const partial_shape& big) {
  if (small.has_rank() && small.rank() == 0)
    return true;
  if (!small.has_rank() || !big.has_rank() || small.rank() > big.rank())
    return false;
  for (int axis = 0; axis < small.rank(); ++axis) {
    auto extent = small[axis];
    if (extent != 1 &&
        (extent == unknown_extent || extent != big[axis + big.rank() - small.rank()]))
      return false;
  }
  return true;
}

} // namespace

bool simplify_context::is_all(int i, double value) const {
  auto* constant_input = constant(i);
  return constant_input && constant_input->elements() > 0 && all_equal(*constant_input, value);
}

std::optional<std::vector<int64_t>> simplify_context::integers(int i) const {
  auto* constant_input = constant(i);
  if (!constant_input ||
      (constant_input->type() != dtype::i32 && constant_input->type() != dtype::i64))
    return std::nullopt;
  auto values = to_integers(*constant_input);
  return std::vector<int64_t>(values.begin(), values.end());
}

bool simplify_context::keeps_shape_of(int i) const {
  for (int other = 0; other < inputs(); ++other)
    if (other != i && !is_same_edge(input(other), input(i)) &&
        !fits_into(input(other).dims(), input(i).dims()))
      return false;
  return true;
}

const node* simplify_context::same_op_behind(int i) const noexcept {
  const auto* source_node = input(i).node;
  if (&source_node->op() != &node_.op() || !is_pure(*source_node))
    return nullptr;
  // The transfer encoding of the merged node must not be lost.
  for (const auto& source : source_node->inputs())
    if (transfer_of(*source.node) != transfer_of(*source_node))
      return nullptr;
  return source_node;
}

edge simplify_context::op(std::string name, std::vector<edge> inputs, attr_map attrs) {
  if (std::ranges::find(inputs, nullptr, &edge::node) != inputs.end())
    return {};
  auto added = rewriter_.add(
      {.op = std::move(name), .inputs = std::move(inputs), .attrs = std::move(attrs)}, node_);
  return added ? (*added)->output(0) : edge{};
}

edge simplify_context::constant(tensor value) {
  auto added = rewriter_.add_constant(std::move(value), node_);
  return added ? (*added)->output(0) : edge{};
}

void simplify(step_graph& step) {
  rewriter graph_rewriter{step};
  for (auto* node : graph_rewriter.nodes()) {
    graph_rewriter.refresh(*node);
    if (!node->op().simplify || !is_pure(*node))
      continue;
    auto old_node_count = step.nodes->nodes().size();
    simplify_context context{*node, graph_rewriter};
    auto replacement = node->op().simplify(context);
    if (graph_rewriter.replace(*node, {replacement}) &&
        static_cast<size_t>(replacement.node->id()) >= old_node_count)
      graph_rewriter.take_name(*replacement.node, *node);
  }
  graph_rewriter.finish();
}

} // namespace troupe
