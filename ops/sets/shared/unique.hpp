// Shared by the kernels of Unique, UniqueV2 and UniqueWithCounts, on all devices.
#pragma once
#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

/// The slices of a tensor along an axis: `outer` pieces of `inner` contiguous elements each.
struct tensor_slices {
  int axis;
  int64_t count, outer, inner;
  int64_t length() const { return outer * inner; }
};

/// The slices of input 0, a vector.
inline result<tensor_slices> vector_slices(const kernel_context& at) {
  const auto& x = at.input(0);
  if (x.rank() != 1)
    return invalid("x must be a vector, got shape ", x.dims());
  return tensor_slices{0, x.elements(), 1, 1};
}

/// The slices of input 0 along the axis in input 1.
inline result<tensor_slices> axis_slices(const kernel_context& at) {
  const auto& x = at.input(0);
  auto named = to_integers(at.input(1));
  if (at.input(1).rank() != 1 || named.size() > 1 || (named.size() == 0 && x.rank() != 1))
    return invalid("axis must be a vector of one number, or empty where x is a vector; got shape ",
                   at.input(1).dims(), " for x ", x.dims());
  TROUPE_ASSIGN(auto axis, resolve_axis(named.size() == 0 ? 0 : named[0], x.rank()));
  return tensor_slices{axis, x.dims()[axis], product(x.dims(), 0, axis),
                       product(x.dims(), axis + 1, x.rank())};
}

/// Input 0 with the elements of each slice contiguous.
inline result<tensor> slices_as_rows(kernel_context& at, const tensor_slices& slices) {
  const auto& x = at.input(0);
  if (slices.outer == 1)
    return x;
  strided_iterator places;
  places.push_back(slices.count, {slices.inner, 0});
  places.push_back(slices.outer, {slices.inner * slices.count, 0});
  places.push_back(slices.inner, {1, 0});
  TROUPE_ASSIGN(auto rows, tensor::make(x.type(), x.dims(), at.memory()));
  copy_strided(at, places, {x}, rows);
  return rows;
}

} // namespace troupe::ops
