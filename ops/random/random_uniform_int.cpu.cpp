#include "troupe/ops/random/random.cpu.hpp"

namespace troupe::ops {
namespace {

template <class T>
status run(kernel_context& at) {
  const auto &least = at.input(1), &bound = at.input(2);
  if (least.rank() != 0 || bound.rank() != 0)
    return invalid("minval and maxval must be scalars, got shapes ", least.dims(), " and ",
                   bound.dims());
  auto from = *least.data<T>(), to = *bound.data<T>();
  if (from >= to)
    return invalid("minval must be less than maxval, got ", from, " and ", to);
  // Unsigned: the range may be larger than any T.
  auto start = static_cast<uint64_t>(from);
  auto range = static_cast<uint64_t>(to) - start;
  return fill_random<T, 2>(at, 14, [=](const philox& numbers, uint64_t index) {
    auto x = numbers(index);
    return std::array{static_cast<T>(start + joined(x[0], x[1]) % range),
                      static_cast<T>(start + joined(x[2], x[3]) % range)};
  });
}

} // namespace

extern constexpr kernel_def random_uniform_int_cpu{
    .op = "RandomUniformInt",
    .device = device_kind::cpu,
    .run = {{dtype::i32, run<int32_t>}, {dtype::i64, run<int64_t>}},
    .key = "Tout",
    .prepare = prepare_stream,
};

} // namespace troupe::ops
