#include "troupe/runtime/program/check_numerics.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"

namespace troupe::ops::check_numerics_cpu {
namespace {

status run(kernel_context& at) {
  const auto& x = at.input(0);
  if (!all_finite(x))
    return invalid(at.state<std::string>(), ": ", describe(summarize(x)));
  at.set_output(0, x);
  return {};
}

} // namespace

extern constexpr kernel_def check_numerics_cpu{
    .op = "CheckNumerics",
    .run = {{dtype::none, run}},
    .prepare = cache_attr<std::string, "message">,
};

} // namespace troupe::ops::check_numerics_cpu
