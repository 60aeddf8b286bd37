#include "troupe/ops/array/padding.hpp"
#include "troupe/ops/copy.hpp"
#include "troupe/ops/dims.hpp"
#include "troupe/runtime/infer.hpp"
#include "troupe/runtime/kernel.hpp"

namespace troupe::ops {
namespace {

status run(kernel_context& at) {
  const auto &x = at.input(0), &table = at.input(1);
  if (!(table.dims() == shape{x.rank(), 2}))
    return invalid("paddings must have shape [", x.rank(), ",2], got ", table.dims());
  auto paddings = to_integers(table);
  std::vector<int64_t> extents;
  for (int axis = 0; axis < x.rank(); ++axis) {
    auto i = 2 * static_cast<size_t>(axis);
    TROUPE_ASSIGN(auto extent, padded(x.dims()[axis], paddings[i], paddings[i + 1]));
    extents.push_back(extent);
  }
  TROUPE_ASSIGN(auto dims, shape::make(extents));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  TROUPE_ASSIGN(auto zero, zero_of(out->type()));
  at.parallel_for(out->elements(), 0.2, [&](int64_t begin, int64_t end) {
    fill_elements(zero, {*out, begin}, end - begin);
  });
  auto strides = strides_of(dims);
  int64_t first = 0;
  walk places;
  for (int axis = 0; axis < x.rank(); ++axis) {
    auto stride = strides[static_cast<size_t>(axis)];
    first += paddings[2 * static_cast<size_t>(axis)] * stride;
    places.push_back(x.dims()[axis], {stride, 0});
  }
  copy_to_walked(at, places, x, {*out, first});
  return {};
}

} // namespace

extern constexpr kernel_def pad_cpu{
    .op = "Pad",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops
