#include "troupe/ops/permute/shared/transpose.hpp"

#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/define/dims.hpp"
#include "troupe/ops/kernel/copy.hpp"

namespace troupe::ops {

result<shapes> infer_transposition(const infer_context& at) {
  const auto& dims = at.input(0);
  TROUPE_ASSIGN(auto vector, at.of_rank(1, 1));
  auto order = at.integers(1);
  if (!dims.has_rank())
    return shapes{partial_shape::unknown()};
  if (!order) {
    if (vector[0] != dims.rank() && vector[0] != unknown_extent)
      return at.invalid("perm must list ", dims.rank(), " axes, got ", vector[0]);
    return shapes{partial_shape::of_rank(dims.rank())};
  }
  TROUPE_ASSIGN(auto axes, permutation_of(*order, dims.rank()));
  auto out = dims;
  for (int axis = 0; axis < dims.rank(); ++axis)
    out.set(axis, dims[axes[static_cast<size_t>(axis)]]);
  return shapes{out};
}

result<tensor> transposed(kernel_context& at) {
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto axes, permutation_of(to_integers(at.input(1)), x.rank()));
  auto strides = strides_of(x.dims());
  auto dims = x.dims();
  strided_iterator places;
  for (int axis = 0; axis < x.rank(); ++axis) {
    auto from = axes[static_cast<size_t>(axis)];
    dims.set(axis, x.dims()[from]);
    places.push_back(dims[axis], {strides[static_cast<size_t>(from)], 0});
  }
  if (places.rank() <= 1 && places.step(0) <= 1)
    return x.reshaped(dims);
  TROUPE_ASSIGN(auto out, tensor::make(x.type(), dims, at.memory()));
  copy_strided(at, places, {x}, out);
  return out;
}

} // namespace troupe::ops
