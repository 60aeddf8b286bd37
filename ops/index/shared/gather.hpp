// Shared by the kernels of Gather, GatherV2 and ResourceGather.
#pragma once
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

/// The axis along which slices are read, and the number of leading batch axes that params and
/// indices share.
struct gathering {
  int axis = 0, batches = 0;
};

inline result<gathering> gathering_along(const kernel_context& at, int axis, int64_t batch_dims) {
  const auto &params = at.input(0).dims(), &indices = at.input(1).dims();
  auto batches = batch_dims;
  batches += batches < 0 ? indices.rank() : 0;
  if (batches < 0 || batches > std::min(indices.rank(), axis))
    return invalid("batch_dims must count axes of indices ", indices, " and of params ", params,
                   " before axis ", axis, ", got ", batch_dims);
  for (int i = 0; i < batches; ++i)
    if (params[i] != indices[i])
      return invalid("the first ", batches, " axes of params ", params, " and indices ", indices,
                     " must be the same");
  return gathering{axis, static_cast<int>(batches)};
}

/// The layout of GatherV2.
inline result<gathering> gathering_of(const kernel_context& at, int64_t batch_dims) {
  if (at.input(2).elements() != 1)
    return invalid("axis must be a scalar, got shape ", at.input(2).dims());
  TROUPE_ASSIGN(auto axis, resolve_axis(to_integers(at.input(2))[0], at.input(0).dims().rank()));
  return gathering_along(at, axis, batch_dims);
}

/// The layout of ResourceGather: along the axis after the batch axes.
inline result<gathering> gathering_behind(const kernel_context& at, int64_t batch_dims) {
  if (batch_dims >= at.input(0).rank())
    return invalid("the variable, of shape ", at.input(0).dims(), ", has no axis behind ",
                   batch_dims, " batch_dims");
  return gathering_along(at, static_cast<int>(batch_dims), batch_dims);
}

inline status check_params(const tensor& params) {
  if (params.rank() > 0)
    return {};
  return invalid("params must have rows, got a scalar");
}

/// The shape of the gathered slices.
inline result<shape> gathered(const shape& params, const shape& indices, gathering layout) {
  std::vector<int64_t> extents{params.begin(), params.begin() + layout.axis};
  extents.insert(extents.end(), indices.begin() + layout.batches, indices.end());
  extents.insert(extents.end(), params.begin() + layout.axis + 1, params.end());
  return shape::make(extents);
}

} // namespace troupe::ops
