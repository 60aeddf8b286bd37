#include "troupe/ops/shape/shared/bitcast.hpp"
#include "troupe/ops/kernel/copy.hpp"

namespace troupe::ops::bitcast_any {
namespace {

status run(kernel_context& at) {
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto extents, recast_extents(x.dims().extents(), x.type(), at.output_type(0)));
  TROUPE_ASSIGN(auto dims, shape::make(extents));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  copy_bytes(at, x, *out);
  return {};
}

} // namespace

extern constexpr kernel_def bitcast_any{
    .op = "Bitcast",
    .run = {{dtype::none, run}},
    .on_any_device = true,
};

} // namespace troupe::ops::bitcast_any
