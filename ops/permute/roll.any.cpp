#include "troupe/ops/define/dims.hpp"
#include "troupe/ops/kernel/copy.hpp"

namespace troupe::ops::roll_any {
namespace {

// The shift of each axis, reduced modulo its extent.
result<std::array<int64_t, max_rank>> shifts_of(const tensor& shift, const tensor& axis,
                                                const shape& dims) {
  if (shift.rank() > 1 || !(shift.dims() == axis.dims()))
    return invalid("shift and axis must be scalars or vectors of one length, got shapes ",
                   shift.dims(), " and ", axis.dims());
  std::array<int64_t, max_rank> shifts{};
  auto distances = to_integers(shift), axes = to_integers(axis);
  for (size_t i = 0; i < distances.size(); ++i) {
    TROUPE_ASSIGN(auto at, resolve_axis(axes[i], dims.rank()));
    auto extent = std::max<int64_t>(dims[at], 1);
    auto& sum = shifts[static_cast<size_t>(at)];
    sum = ((sum + distances[i] % extent) % extent + extent) % extent;
  }
  return shifts;
}

status run(kernel_context& at) {
  const auto& x = at.input(0);
  if (x.rank() == 0)
    return invalid("input must have an axis, got a scalar");
  TROUPE_ASSIGN(auto shifts, shifts_of(at.input(1), at.input(2), x.dims()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, x.dims()));
  auto strides = strides_of(x.dims());
  // Each shifted axis has two parts: the part that moves within its extent, and the part that wraps
  // around.
  for (unsigned parts = 0; parts < 1u << x.rank() && x.elements() > 0; ++parts) {
    int64_t from = 0, to = 0;
    strided_iterator places;
    for (size_t axis = 0; axis < static_cast<size_t>(x.rank()); ++axis) {
      auto extent = x.dims()[static_cast<int>(axis)], shift = shifts[axis];
      auto comes_in = (parts >> axis & 1) != 0;
      from += comes_in ? (extent - shift) * strides[axis] : 0;
      to += comes_in ? 0 : shift * strides[axis];
      places.push_back(comes_in ? shift : extent - shift, {strides[axis], strides[axis]});
    }
    if (places.elements() > 0)
      copy_between(at, places, {x, from}, {*out, to});
  }
  return {};
}

} // namespace

extern constexpr kernel_def roll_any{
    .op = "Roll",
    .run = {{dtype::none, run}},
    .on_any_device = true,
};

} // namespace troupe::ops::roll_any
