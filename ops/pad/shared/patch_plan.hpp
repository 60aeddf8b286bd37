// The plan of ExtractImagePatches, which does not depend on the images' values, on all devices.
#pragma once
#include "troupe/ops/pad/shared/patches.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

/// For kernel_def::prepare.
inline result<std::shared_ptr<void>> keep_patches(const kernel_setup& setup) {
  TROUPE_ASSIGN(auto layout, patch_layout::of(setup.origin));
  return std::shared_ptr<void>{std::make_shared<patch_layout>(layout)};
}

struct patch_plan {
  patch_places down, across;
  int64_t depth = 0; ///< elements per patch
  shape dims;        ///< the output's shape
};

inline result<patch_plan> plan_patches(const tensor& x, const patch_layout& layout) {
  const auto &rows = layout.axes[0], &columns = layout.axes[1];
  patch_plan plan;
  if (x.rank() != 4)
    return invalid("images must have 4 axes, got shape ", x.dims());
  TROUPE_ASSIGN(plan.down, place_patches(x.dims()[1], rows, layout.same_padding));
  TROUPE_ASSIGN(plan.across, place_patches(x.dims()[2], columns, layout.same_padding));
  if (__builtin_mul_overflow(rows.size, columns.size, &plan.depth) ||
      __builtin_mul_overflow(plan.depth, x.dims()[3], &plan.depth))
    return invalid("patches of ", rows.size, " x ", columns.size, " pixels are too much");
  TROUPE_ASSIGN(plan.dims, shape::make(std::array{x.dims()[0], plan.down.count, plan.across.count,
                                                  plan.depth}));
  return plan;
}

} // namespace troupe::ops
