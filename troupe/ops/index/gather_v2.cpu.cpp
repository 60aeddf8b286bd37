#include "troupe/ops/index/shared/gather.cpu.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"

namespace troupe::ops::gather_v2_cpu {
namespace {

status run(kernel_context& at) {
  TROUPE_ASSIGN(auto how, gathering_of(at, at.state<int64_t>()));
  return gather_slices(at, how);
}

} // namespace

extern constexpr kernel_def gather_v2_cpu{
    .op = "GatherV2",
    .run = {{dtype::none, run}},
    .prepare = cache_attr<int64_t, "batch_dims">,
};

} // namespace troupe::ops::gather_v2_cpu
