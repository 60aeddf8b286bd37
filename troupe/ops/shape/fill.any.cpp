#include "troupe/ops/kernel/copy.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::fill_any {
namespace {

status run(kernel_context& at) {
  const auto &listed = at.input(0), &value = at.input(1);
  if (listed.rank() != 1 || value.elements() != 1)
    return invalid("dims must be a vector and value a scalar, got shapes ", listed.dims(), " and ",
                   value.dims());
  TROUPE_ASSIGN(auto dims, shape::make(to_integers(listed)));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  at.parallel_for(out->elements(), 0.2, [&](int64_t begin, int64_t end) {
    fill_elements(value, {*out, begin}, end - begin);
  });
  return {};
}

} // namespace

extern constexpr kernel_def fill_any{
    .op = "Fill",
    .run = {{dtype::none, run}},
    .on_any_device = true,
};

} // namespace troupe::ops::fill_any
