#include "troupe/api/train/optimizers/indexed_slices.hpp"
// Finds the rows of sparse gradients.

#include "troupe/api/generated/ops.hpp"

#include <algorithm>

namespace troupe {
namespace {

bool is_gathered(edge indices) {
  return std::ranges::any_of(indices.node->graph().nodes(), [&](const auto& candidate) {
    return (candidate->op().name.starts_with("Gather") ||
            candidate->op().name == "ResourceGather") &&
           candidate->inputs().size() > 1 && is_same_edge(candidate->inputs()[1], indices);
  });
}

// Returns true if the indices are known to be rows: a gather or an accumulator has checked them, or
// the indices that they are copied from. Otherwise they may be negative, which an
// UnsortedSegmentSum ignores.
bool are_checked(edge indices) {
  const auto& producer = *indices.node;
  const auto& op = producer.op().name;
  if (op == "SparseAccumulatorTakeGradient" || is_gathered(indices))
    return true;
  if (op == "Identity" || op == "Reshape" || (op == "Unique" && indices.index == 0) ||
      (op == "Cast" && indices.type() == dtype::i64))
    return are_checked(producer.inputs()[0]);
  return op == "ConcatV2" &&
         std::ranges::all_of(producer.inputs().begin(), producer.inputs().end() - 1, are_checked);
}

// Concatenates slices, with indices as a vector.
std::optional<indexed_slices> joined(const std::vector<indexed_slices>& parts,
                                     const partial_shape& dims) {
  if (!dims.has_rank())
    return std::nullopt;
  std::vector<int64_t> row{dims.extents().begin(), dims.extents().end()};
  row[0] = -1;
  if (std::ranges::count(row, -1) > 1)
    return std::nullopt; // the shape of a row is unknown until the step runs
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
  if (gradient.is_empty())
    return std::nullopt;
  const auto& producer = *gradient.node;
  if (producer.op().name == "UnsortedSegmentSum" && are_checked(producer.inputs()[1]))
    return indexed_slices{producer.inputs()[0], producer.inputs()[1]};
  if (producer.op().name != "AddN")
    return std::nullopt;
  std::vector<indexed_slices> parts;
  for (const auto& input : producer.inputs()) {
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
  auto [unique_rows, segments] = unique(rows->indices);
  return indexed_slices{unsorted_segment_sum(rows->values, segments, size_of(unique_rows)),
                        unique_rows};
}

} // namespace troupe
