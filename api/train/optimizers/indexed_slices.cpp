#include "troupe/api/train/optimizers/indexed_slices.hpp"

#include "troupe/api/generated/ops.hpp"

#include <algorithm>

namespace troupe {
namespace {

// An UnsortedSegmentSum passes over negative numbers, which no row has: these have been looked up,
// or an accumulator has looked at them.
bool looked_up(edge indices) {
  auto from = indices;
  while (from.node->op().name == "Identity")
    from = from.node->inputs()[0];
  if (from.node->op().name == "SparseAccumulatorTakeGradient")
    return true;
  return std::ranges::any_of(indices.node->graph().nodes(), [&](const auto& at) {
    return (at->op().name.starts_with("Gather") || at->op().name == "ResourceGather") &&
           at->inputs().size() > 1 && is_same_edge(at->inputs()[1], indices);
  });
}

// All the slices behind one another, with indices that are a vector.
std::optional<indexed_slices> joined(const std::vector<indexed_slices>& parts,
                                     const partial_shape& of) {
  if (!of.has_rank())
    return std::nullopt;
  std::vector<int64_t> row{of.extents().begin(), of.extents().end()};
  row[0] = -1;
  if (std::ranges::count(row, -1) > 1)
    return std::nullopt; // only a run would know the shape of a row
  std::vector<edge> values, indices;
  for (const auto& part : parts) {
    values.push_back(reshape(part.values, tensor::vector(row)));
    indices.push_back(reshape(cast(part.indices, dtype::i64), {-1}));
  }
  if (parts.size() == 1)
    return indexed_slices{values[0], indices[0]};
  return indexed_slices{concatenate(values, 0), concatenate(indices, 0)};
}

} // namespace

std::optional<indexed_slices> slices_of(edge gradient) {
  if (gradient.is_nothing())
    return std::nullopt;
  const auto& at = *gradient.node;
  if (at.op().name == "UnsortedSegmentSum" && looked_up(at.inputs()[1]))
    return indexed_slices{at.inputs()[0], at.inputs()[1]};
  if (at.op().name != "AddN")
    return std::nullopt;
  std::vector<indexed_slices> parts;
  for (const auto& input : at.inputs()) {
    auto part = slices_of(input);
    if (!part)
      return std::nullopt;
    parts.push_back(*part);
  }
  return joined(parts, gradient.dims());
}

std::optional<indexed_slices> summed_slices_of(edge gradient) {
  auto rows = slices_of(gradient);
  if (rows)
    rows = joined({*rows}, gradient.dims());
  if (!rows)
    return std::nullopt;
  auto [once, which] = unique(rows->indices);
  return indexed_slices{unsorted_segment_sum(rows->values, which, size_of(once)), once};
}

} // namespace troupe
