#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/random/shared/shuffling.hpp"

namespace troupe::ops::random_shuffle_cpu {
namespace {

status run(kernel_context& at) {
  const auto& from = at.input(0);
  auto rows = from.rank() == 0 ? 1 : from.dims()[0];
  if (rows < 2 || from.elements() == 0) {
    at.set_output(0, from);
    return {};
  }
  TROUPE_ASSIGN(auto order, shuffled(at, rows, at.memory()));
  if (order.empty())
    return {};
  const auto* place = order.template data<int64_t>();
  TROUPE_ASSIGN(auto* out, at.allocate(0, from.dims()));
  auto size = from.elements() / rows;
  at.parallel_for(rows, 0.5 * static_cast<double>(size) + 5, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i)
      copy_elements({from, place[i] * size}, {*out, i * size}, size);
  });
  return {};
}

} // namespace

extern constexpr kernel_def random_shuffle_cpu{
    .op = "RandomShuffle",
    .run = {{dtype::none, run}},
    .prepare = prepare_stream,
    .state_format = &stream_position,
};

} // namespace troupe::ops::random_shuffle_cpu
