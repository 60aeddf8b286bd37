#include "troupe/ops/index/shared/gather.cpu.hpp"

namespace troupe::ops::gather_cpu {
namespace {

status run(kernel_context& at) {
  TROUPE_TRY(check_params(at.input(0)));
  return gather_slices(at, {});
}

} // namespace

extern constexpr kernel_def gather_cpu{
    .op = "Gather",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops::gather_cpu
