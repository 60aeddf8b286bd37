#include "troupe/ops/kernel/attr_state.hpp"
#include "troupe/runtime/program/nonfinite.hpp"

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
    .prepare = keep_attr<std::string, "message">,
};

} // namespace troupe::ops::check_numerics_cpu
