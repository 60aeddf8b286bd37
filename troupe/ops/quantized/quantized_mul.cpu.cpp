#include "troupe/ops/quantized/shared/byte_pairs.cpu.hpp"

#include <functional>

namespace troupe::ops::quantized_mul_cpu {
namespace {

byte_table as_factors(const quantized_range& of) {
  return tabulate(of, [zero = of.zero()](int64_t whole) { return whole - zero; });
}

status run(kernel_context& at) {
  const auto &x = at.input(0), &y = at.input(1);
  TROUPE_ASSIGN(auto range_x, wide_range_at(at, 2, x.type()));
  TROUPE_ASSIGN(auto range_y, wide_range_at(at, 4, y.type()));
  TROUPE_ASSIGN(auto dims, broadcast(x.dims(), y.dims()));
  TROUPE_TRY(give_range(at, range_of_products(range_x, range_y)));
  return combine_bytes(at, dims, as_factors(range_x), as_factors(range_y), std::multiplies<>{});
}

} // namespace

extern constexpr kernel_def quantized_mul_cpu{
    .op = "QuantizedMul",
    .run = {{dtype::none, run}},
    .key = "T1",
};

} // namespace troupe::ops::quantized_mul_cpu
