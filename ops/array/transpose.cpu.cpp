#include "troupe/ops/axes.hpp"
#include "troupe/ops/copy.hpp"
#include "troupe/ops/dims.hpp"
#include "troupe/runtime/infer.hpp"
#include "troupe/runtime/kernel.hpp"

namespace troupe::ops {
namespace {

status run(kernel_context& at) {
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto axes, permutation_of(to_integers(at.input(1)), x.rank()));
  auto strides = strides_of(x.dims());
  auto dims = x.dims();
  walk places;
  for (int axis = 0; axis < x.rank(); ++axis) {
    auto from = axes[static_cast<size_t>(axis)];
    dims.set(axis, x.dims()[from]);
    places.push_back(dims[axis], {strides[static_cast<size_t>(from)], 0});
  }
  if (places.rank() <= 1 && places.step(0) <= 1) { // the elements stay in order
    at.set_output(0, x.reshaped(dims));
    return {};
  }
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  copy_walked(at, places, {x}, *out);
  return {};
}

} // namespace

extern constexpr kernel_def transpose_cpu{
    .op = "Transpose",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops
