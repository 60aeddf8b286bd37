// Shared by StridedSlice and StridedSliceGrad: the elements of a tensor that a slice selects.
#pragma once
#include "troupe/ops/kernel/strided_iterator.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <optional>

namespace troupe::ops {

/// Bit i of a mask refers to item i of begin, end and strides.
struct slice_masks {
  /// Reads the attributes of a node, or of a shape function's context.
  template <class Node>
  explicit slice_masks(const Node& source)
      : begin(source.template attr<int64_t>("begin_mask")),
        end(source.template attr<int64_t>("end_mask")),
        ellipsis(source.template attr<int64_t>("ellipsis_mask")),
        new_axis(source.template attr<int64_t>("new_axis_mask")),
        shrink_axis(source.template attr<int64_t>("shrink_axis_mask")) {}

  int64_t begin, end, ellipsis, new_axis, shrink_axis;
};

/// One axis of the sliced tensor.
struct sliced_axis {
  int64_t first = 0, stride = 1, extent = 0; ///< -1 for an unknown extent
};

struct strided_slice_plan {
  std::array<sliced_axis, max_rank> axes; ///< of the sliced tensor
  std::vector<int64_t> extents;           ///< of the slice
};

/// The lists that define a slice, as far as they are known.
struct slice_bounds {
  std::span<const int64_t> begin, end, strides;
};

/// Extents of -1 are unknown. Without known bounds only the number of extents is determined.
result<strided_slice_plan> plan_slice(std::span<const int64_t> extents, size_t items,
                                      const std::optional<slice_bounds>& bounds,
                                      const slice_masks& masks);

/// The inputs begin, end and strides, which start at input `first`.
result<shapes> infer_strided_slice(const infer_context& at, const partial_shape& dims, int first);

/// The position of the slice in a tensor of these extents, for kernels.
struct slice_places {
  shape dims;
  int64_t first = 0;
  strided_iterator places;
};
result<slice_places> locate_slice(const shape& dims, const tensor& begin, const tensor& end,
                                  const tensor& strides, const slice_masks& masks);

/// For kernel_def::prepare.
result<std::shared_ptr<void>> keep_slice_masks(const kernel_setup& setup);

/// The same masks as attributes for another node.
attr_map attributes(const slice_masks& masks);

} // namespace troupe::ops
