#include "troupe/ops/array/gathering.cpu.hpp"

namespace troupe::ops {
namespace {

status run(kernel_context& at) {
  if (at.input(0).rank() == 0)
    return invalid("params must have rows, got a scalar");
  return gather_slices(at, 0, 0);
}

} // namespace

extern constexpr kernel_def gather_cpu{
    .op = "Gather",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops
