#include "troupe/ops/copy.hpp"
#include "troupe/ops/random/random.cpu.hpp"

#include <numeric>

namespace troupe::ops {
namespace {

status run(kernel_context& at) {
  const auto& from = at.input(0);
  auto rows = from.rank() == 0 ? 1 : from.dims()[0];
  if (rows < 2 || from.elements() == 0) {
    at.set_output(0, from);
    return {};
  }
  TROUPE_ASSIGN(auto order, tensor::make(dtype::i64, shape{rows}, at.memory()));
  auto* place = order.template data<int64_t>();
  std::iota(place, place + rows, int64_t{0});
  auto& stream = at.state<random_stream>();
  auto first = stream.take(static_cast<uint64_t>(rows));
  for (int64_t i = 0; i + 1 < rows; ++i) { // Fisher and Yates 1938
    if (i % 16384 == 16383 && at.stopped())
      return {};
    auto block = stream.numbers()(first + static_cast<uint64_t>(i));
    auto left = static_cast<uint64_t>(rows - i);
    std::swap(place[i], place[i + static_cast<int64_t>(joined(block[0], block[1]) % left)]);
  }
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
};

} // namespace troupe::ops
