#include "troupe/ops/sets/shared/unique.cpu.hpp"

namespace troupe::ops::unique_cpu {
namespace {

status run_unique(kernel_context& at) { return unique_elements(at).status(); }

status run_unique_v2(kernel_context& at) { return unique_slices(at).status(); }

status run_unique_with_counts(kernel_context& at) {
  TROUPE_ASSIGN(auto row_kinds, unique_elements(at));
  return put_counts(at, row_kinds);
}

status run_unique_with_counts_v2(kernel_context& at) {
  TROUPE_ASSIGN(auto row_kinds, unique_slices(at));
  return put_counts(at, row_kinds);
}

} // namespace

extern constexpr kernel_def unique_cpu{
    .op = "Unique",
    .run = {{dtype::none, run_unique}},
};

extern constexpr kernel_def unique_v2_cpu{
    .op = "UniqueV2",
    .run = {{dtype::none, run_unique_v2}},
};

extern constexpr kernel_def unique_with_counts_cpu{
    .op = "UniqueWithCounts",
    .run = {{dtype::none, run_unique_with_counts}},
};

extern constexpr kernel_def unique_with_counts_v2_cpu{
    .op = "UniqueWithCountsV2",
    .run = {{dtype::none, run_unique_with_counts_v2}},
};

} // namespace troupe::ops::unique_cpu
