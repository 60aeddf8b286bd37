#include "troupe/ops/index/shared/greatest.hpp"
#include "troupe/ops/kernel/attr_state.hpp"

namespace troupe::ops::top_k_cpu {
namespace {

status run(kernel_context& at) { return find_greatest(at, at.state<int64_t>()); }

} // namespace

extern constexpr kernel_def top_k_cpu{
    .op = "TopK",
    .run = {{dtype::none, run}},
    .prepare = keep_attr<int64_t, "k">,
};

} // namespace troupe::ops::top_k_cpu
