#include "troupe/ops/kernel/cached_attr.hpp"

namespace troupe::ops::constant_cpu {
namespace {

status run(kernel_context& at) {
  at.set_output(0, at.state<tensor>());
  return {};
}

} // namespace

extern constexpr kernel_def constant_cpu{
    .op = "Const",
    .run = {{dtype::none, run}},
    .prepare = cache_attr<tensor, "value">,
};

} // namespace troupe::ops::constant_cpu
