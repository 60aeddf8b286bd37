#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::rank_cpu {
namespace {

status run(kernel_context& at) {
  TROUPE_ASSIGN(auto* out, at.allocate(0, {}));
  *out->data<int32_t>() = at.input(0).rank();
  return {};
}

} // namespace

extern constexpr kernel_def rank_cpu{
    .op = "Rank",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops::rank_cpu
