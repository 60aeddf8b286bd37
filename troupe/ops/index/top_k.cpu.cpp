#include "troupe/ops/index/shared/top_k.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"

namespace troupe::ops::top_k_cpu {
namespace {

status run(kernel_context& at) { return find_greatest(at, at.state<int64_t>()); }

} // namespace

extern constexpr kernel_def top_k_cpu{
    .op = "TopK",
    .run = {{dtype::none, run}},
    .prepare = cache_attr<int64_t, "k">,
};

} // namespace troupe::ops::top_k_cpu
