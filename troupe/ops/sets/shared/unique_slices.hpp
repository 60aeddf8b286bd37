// The shape function of UniqueV2 and UniqueWithCountsV2.
#pragma once
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

/// The shapes of y and idx.
inline result<shapes> infer_unique_slices(const infer_context& at) {
  TROUPE_ASSIGN(auto axes, at.of_rank(1, 1));
  auto dims = at.input(0);
  if (axes[0] > 1)
    return at.invalid("axis must be empty or one number, got ", axes[0]);
  auto axis = at.integers(1);
  if (!dims.has_rank() || (!axis && dims.rank() != 1))
    return shapes{dims.has_rank() ? partial_shape::of_rank(dims.rank()) : partial_shape::unknown(),
                  {unknown_extent}};
  if (!axis || axis->empty())
    TROUPE_TRY(at.of_rank(0, 1));
  TROUPE_ASSIGN(auto along, resolve_axis(axis && !axis->empty() ? axis->front() : 0, dims.rank()));
  partial_shape places{dims[along]};
  dims.set(along, unknown_extent);
  return shapes{dims, places};
}

} // namespace troupe::ops
