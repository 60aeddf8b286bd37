#include "troupe/ops/define/dims.hpp"
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::tile_any {
namespace {

status run(kernel_context& at) {
  const auto& x = at.input(0);
  auto multiples = to_integers(at.input(1));
  if (multiples.size() != static_cast<size_t>(x.rank()))
    return invalid("multiples must list ", x.rank(), " axes, got ", multiples.size());
  auto strides = strides_of(x.dims());
  std::array<int64_t, max_rank> extents{};
  strided_iterator places;
  for (int axis = 0; axis < x.rank(); ++axis) {
    auto i = static_cast<size_t>(axis);
    int64_t extent = 0;
    if (multiples[i] < 0 || __builtin_mul_overflow(x.dims()[axis], multiples[i], &extent))
      return invalid("cannot repeat axis ", axis, " of ", x.dims(), ' ', multiples[i], " times");
    extents[i] = extent;
    places.push_back(multiples[i], {0, 0});
    places.push_back(x.dims()[axis], {strides[i], 0});
  }
  TROUPE_ASSIGN(auto dims, shape::make(std::span{extents}.first(multiples.size())));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  copy_strided(at, places, {x}, *out);
  return {};
}

} // namespace

extern constexpr kernel_def tile_any{
    .op = "Tile",
    .run = {{dtype::none, run}},
    .on_any_device = true,
};

} // namespace troupe::ops::tile_any
