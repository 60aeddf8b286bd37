#include "troupe/ops/array/uniqueness.cpu.hpp"

namespace troupe::ops {
namespace {

status run(kernel_context& at) {
  TROUPE_ASSIGN(auto found, unique_elements(at));
  std::vector<int64_t> counts(found.first.size());
  for (auto kind : found.of_row)
    ++counts[static_cast<size_t>(kind)];
  return put_integers(at, 2, counts);
}

} // namespace

extern constexpr kernel_def unique_with_counts_cpu{
    .op = "UniqueWithCounts",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops
