#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/linalg/shared/diagonals.hpp"

namespace troupe::ops::diag_part_any {
namespace {

status run(kernel_context& at) {
  const auto& x = at.input(0);
  auto half = static_cast<size_t>(x.rank() / 2);
  auto first = x.dims().extents().first(half);
  if (x.rank() == 0 || x.rank() % 2 != 0 ||
      !std::ranges::equal(first, x.dims().extents().last(half)))
    return invalid("the second half of the axes must be like the first, got shape ", x.dims());
  TROUPE_ASSIGN(auto dims, shape::make(first));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  matrices all{1, dims.elements(), dims.elements()};
  copy_strided(at, all.places(), {x}, *out);
  return {};
}

} // namespace

extern constexpr kernel_def diag_part_any{
    .op = "DiagPart",
    .run = {{dtype::none, run}},
    .on_any_device = true,
};

} // namespace troupe::ops::diag_part_any
