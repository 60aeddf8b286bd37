#include "troupe/ops/sets/shared/unique.cpu.hpp"

namespace troupe::ops::list_diff_cpu {
namespace {

status run(kernel_context& at) {
  const auto &x = at.input(0), &y = at.input(1);
  if (x.rank() != 1 || y.rank() != 1)
    return invalid("x and y must be vectors, got shapes ", x.dims(), " and ", y.dims());
  distinct_rows without{y.type(), 1};
  for (int64_t i = 0; i < y.elements() && !(i % 10'000 == 9'999 && at.stopped()); ++i)
    without.number_of(element_at(y, i));
  std::vector<int64_t> kept_indices;
  for (int64_t i = 0; i < x.elements() && !(i % 10'000 == 9'999 && at.stopped()); ++i)
    if (!without.contains(element_at(x, i)))
      kept_indices.push_back(i);
  TROUPE_ASSIGN(auto* out, at.allocate(0, {static_cast<int64_t>(kept_indices.size())}));
  take_blocks(at, x, kept_indices, 1, *out);
  return put_integers(at, 1, kept_indices);
}

} // namespace

extern constexpr kernel_def list_diff_cpu{
    .op = "ListDiff",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops::list_diff_cpu
