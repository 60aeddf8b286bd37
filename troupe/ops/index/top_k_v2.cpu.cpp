#include "troupe/ops/index/shared/top_k.hpp"

namespace troupe::ops::top_k_v2_cpu {
namespace {

status run(kernel_context& at) {
  TROUPE_ASSIGN(auto k, listed_k(at));
  return find_greatest(at, k);
}

} // namespace

extern constexpr kernel_def top_k_v2_cpu{
    .op = "TopKV2",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops::top_k_v2_cpu
