#include "troupe/ops/sets/shared/unique.cpu.hpp"

namespace troupe::ops::unique_with_counts_cpu {
namespace {

status run(kernel_context& at) {
  TROUPE_ASSIGN(auto found, unique_elements(at));
  return put_counts(at, found);
}

} // namespace

extern constexpr kernel_def unique_with_counts_cpu{
    .op = "UniqueWithCounts",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops::unique_with_counts_cpu
