#include "troupe/ops/define/dims.hpp"
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::slice_any {
namespace {

status run(kernel_context& at) {
  const auto& x = at.input(0);
  auto begin = to_integers(at.input(1)), size = to_integers(at.input(2));
  auto rank = static_cast<size_t>(x.rank());
  if (begin.size() != rank || size.size() != rank)
    return invalid("begin and size must list ", rank, " axes, got ", begin.size(), " and ",
                   size.size());
  auto strides = strides_of(x.dims());
  auto dims = x.dims();
  int64_t first = 0;
  strided_iterator places;
  for (size_t i = 0; i < rank; ++i) {
    auto axis = static_cast<int>(i);
    auto extent = x.dims()[axis];
    if (begin[i] < 0 || begin[i] > extent || size[i] < -1 || size[i] > extent - begin[i])
      return invalid("begin ", begin[i], " with size ", size[i], " is outside of axis ", axis,
                     " of ", x.dims());
    dims.set(axis, size[i] == -1 ? extent - begin[i] : size[i]);
    first += begin[i] * strides[i];
    places.push_back(dims[axis], {strides[i], 0});
  }
  if (dims == x.dims()) {
    at.set_output(0, x);
    return {};
  }
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  copy_strided(at, places, {x, first}, *out);
  return {};
}

} // namespace

extern constexpr kernel_def slice_any{
    .op = "Slice",
    .run = {{dtype::none, run}},
    .on_any_device = true,
};

} // namespace troupe::ops::slice_any
