// Shared by InTopK and InTopKV2.
#pragma once
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

inline result<shapes> infer_in_top_k(const infer_context& at) {
  TROUPE_ASSIGN(auto predictions, at.of_rank(0, 2));
  TROUPE_ASSIGN(auto targets, at.of_rank(1, 1));
  auto rows = merge(partial_shape{predictions[0]}, targets);
  if (!rows)
    return at.invalid("targets must have one element for each row of predictions, got ", targets,
                      " for ", predictions);
  return shapes{*std::move(rows)};
}

/// For kernels.
inline status check_targets(const tensor& predictions, const tensor& targets) {
  const auto& dims = predictions.dims();
  if (dims.rank() == 2 && targets.rank() == 1 && targets.elements() == dims[0])
    return {};
  return invalid("predictions must be a matrix and targets have one element for each of its rows, "
                 "got ",
                 dims, " and ", targets.dims());
}

} // namespace troupe::ops
