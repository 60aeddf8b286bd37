#include "troupe/ops/define/dims.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::reshape_any {
namespace {

status run(kernel_context& at) {
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto dims, fit_elements(to_integers(at.input(1)), x.elements()));
  at.set_output(0, x.reshaped(dims));
  return {};
}

} // namespace

extern constexpr kernel_def reshape_any{
    .op = "Reshape",
    .run = {{dtype::none, run}},
    .on_any_device = true,
};

} // namespace troupe::ops::reshape_any
