#include "troupe/ops/kernel/copy.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::broadcast_any {
namespace {

status run(kernel_context& at) {
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto dims, shape::make(to_integers(at.input(1))));
  TROUPE_ASSIGN(auto joint, broadcast(x.dims(), dims));
  if (!(joint == dims))
    return invalid("cannot stretch ", x.dims(), " to ", dims);
  if (x.dims() == dims) {
    at.set_output(0, x);
    return {};
  }
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  copy_strided(at, strided_iterator::broadcast(dims, x.dims()), {x}, *out);
  return {};
}

} // namespace

extern constexpr kernel_def broadcast_to_any{
    .op = "BroadcastTo",
    .run = {{dtype::none, run}},
    .on_any_device = true,
};

} // namespace troupe::ops::broadcast_any
