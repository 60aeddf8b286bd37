#include "troupe/ops/quantized/shared/byte_pairs.cpu.hpp"

#include <cmath>
#include <functional>

namespace troupe::ops::quantized_add_cpu {
namespace {

// Bytes as whole numbers of the sum, with equal steps between them. That rounds the step; the only
// element of an operand is rounded by itself, as others do.
byte_table as_summands(const quantized_range& of, const quantized_range& sum, bool only) {
  if (only)
    return tabulate(of, [&](int64_t whole) { return sum.nearest(of.real(whole)); });
  auto zero = sum.whole(of.real(0)), step = sum.whole(of.real(1)) - zero;
  return tabulate(
      of, [&](int64_t whole) { return std::clamp(zero + whole * step, sum.lowest, sum.highest); });
}

status run(kernel_context& at) {
  const auto &x = at.input(0), &y = at.input(1);
  TROUPE_ASSIGN(auto range_x, wide_range_at(at, 2, x.type()));
  TROUPE_ASSIGN(auto range_y, wide_range_at(at, 4, y.type()));
  TROUPE_ASSIGN(auto dims, broadcast(x.dims(), y.dims()));
  auto far = std::max(std::abs(std::min(range_x.least, range_y.least)),
                      std::abs(std::max(range_x.most, range_y.most)));
  far *= 1 << 14;
  quantized_range sum{dtype::i32, -far, far};
  TROUPE_TRY(give_range(at, sum));
  auto only_x = x.elements() == 1, only_y = !only_x && y.elements() == 1;
  return combine_bytes(at, dims, as_summands(range_x, sum, only_x),
                       as_summands(range_y, sum, only_y), std::plus<>{});
}

} // namespace

extern constexpr kernel_def quantized_add_cpu{
    .op = "QuantizedAdd",
    .run = {{dtype::none, run}},
    .key = "T1",
};

} // namespace troupe::ops::quantized_add_cpu
