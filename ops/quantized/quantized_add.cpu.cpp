#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/ops/kernel/strided_iterator.hpp"
#include "troupe/ops/quantized/shared/quantized_range.hpp"

#include <array>
#include <cmath>
#include <functional>

namespace troupe::ops::quantized_add_cpu {
namespace {

// The value of each byte, indexed by the unsigned byte.
using byte_table = std::array<int32_t, 256>;

// `meaning(number)` for each number of the range's type.
template <class Meaning>
byte_table tabulate(const quantized_range& range, Meaning meaning) {
  byte_table table{};
  for (auto number = range.lowest; number <= range.highest; ++number)
    table[static_cast<uint8_t>(number)] = static_cast<int32_t>(meaning(number));
  return table;
}

// Output 0 = op(table_a[a], table_b[b]) of inputs 0 and 1, broadcast to the shape; wraps around.
template <class Op>
status combine_bytes(kernel_context& at, const shape& dims, const byte_table& table_a,
                     const byte_table& table_b, Op op) {
  const auto &a = at.input(0), &b = at.input(1);
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  auto plan = strided_iterator::broadcast(dims, a.dims(), b.dims());
  const auto *from_a = static_cast<const uint8_t*>(a.raw()),
             *from_b = static_cast<const uint8_t*>(b.raw());
  auto* to = out->data<int32_t>();
  at.parallel_for(out->elements(), 1, [&](int64_t begin, int64_t end) {
    plan.runs(begin, end,
              [&](int64_t first, const strided_iterator::offsets& where, int64_t count) {
                const auto *x = from_a + where[0], *y = from_b + where[1];
                for (int64_t i = 0; i < count; ++i)
                  to[first + i] =
                      wrapping(op, table_a[x[i * plan.step(0)]], table_b[y[i * plan.step(1)]]);
              });
  });
  return {};
}

// Bytes as numbers of the sum's range, with equal steps between them; this rounds the step. An
// operand with a single element is rounded by itself. Both agree with TensorFlow's reference.
byte_table quantized_add_as_summands(const quantized_range& range, const quantized_range& sum,
                                     bool only) {
  if (only)
    return tabulate(range, [&](int64_t number) { return sum.nearest(range.real(number)); });
  auto zero = sum.whole(range.real(0)), step = sum.whole(range.real(1)) - zero;
  return tabulate(range, [&](int64_t number) {
    return std::clamp(zero + number * step, sum.lowest, sum.highest);
  });
}

status run_quantized_add(kernel_context& at) {
  const auto &x = at.input(0), &y = at.input(1);
  TROUPE_ASSIGN(auto range_x, wide_range_at(at, 2, x.type()));
  TROUPE_ASSIGN(auto range_y, wide_range_at(at, 4, y.type()));
  TROUPE_ASSIGN(auto dims, broadcast(x.dims(), y.dims()));
  auto max_magnitude = std::max(std::abs(std::min(range_x.least, range_y.least)),
                                std::abs(std::max(range_x.most, range_y.most)));
  max_magnitude *= 1 << 14;
  quantized_range sum{dtype::i32, -max_magnitude, max_magnitude};
  TROUPE_TRY(give_range(at, sum));
  auto only_x = x.elements() == 1, only_y = !only_x && y.elements() == 1;
  return combine_bytes(at, dims, quantized_add_as_summands(range_x, sum, only_x),
                       quantized_add_as_summands(range_y, sum, only_y), std::plus<>{});
}

byte_table as_factors(const quantized_range& range) {
  return tabulate(range, [zero = range.zero()](int64_t number) { return number - zero; });
}

status run_quantized_mul(kernel_context& at) {
  const auto &x = at.input(0), &y = at.input(1);
  TROUPE_ASSIGN(auto range_x, wide_range_at(at, 2, x.type()));
  TROUPE_ASSIGN(auto range_y, wide_range_at(at, 4, y.type()));
  TROUPE_ASSIGN(auto dims, broadcast(x.dims(), y.dims()));
  TROUPE_TRY(give_range(at, range_of_products(range_x, range_y)));
  return combine_bytes(at, dims, as_factors(range_x), as_factors(range_y), std::multiplies<>{});
}

// The largest i32 that a float can represent.
constexpr float largest = 2147483520.0f;

// Bytes as numbers of the sum's range, in single precision: see quantized_range.
byte_table quantized_bias_add_as_summands(const quantized_range& range,
                                          const quantized_range& sum) {
  auto steps = static_cast<double>(range.highest - range.lowest);
  auto step = static_cast<float>(static_cast<double>(range.most - range.least) / steps);
  auto low = range.least == range.most ? range.least : std::round(range.least / step) * step;
  auto first = low - static_cast<float>(range.lowest) * step;
  auto sum_steps = static_cast<double>(sum.highest - sum.lowest);
  auto scale = sum.most == sum.least
                   ? 0.0f
                   : static_cast<float>(sum_steps / static_cast<double>(sum.most - sum.least));
  auto shift = std::round(sum.least * scale) - static_cast<float>(sum.lowest);
  return tabulate(range, [&](int64_t number) {
    auto place = std::round((first + static_cast<float>(number) * step) * scale) - shift;
    return std::min(std::max(-2147483648.0f, place), largest); // NaN becomes the lowest number
  });
}

status run_quantized_bias_add(kernel_context& at) {
  const auto &x = at.input(0), &bias = at.input(1);
  TROUPE_ASSIGN(auto range, range_at(at, 2, x.type()));
  TROUPE_ASSIGN(auto bias_range, range_at(at, 4, bias.type()));
  if (x.rank() < 2)
    return invalid("input must have at least 2 axes, got shape ", x.dims());
  if (bias.rank() != 1 || bias.elements() != x.dims()[x.rank() - 1])
    return invalid("bias must have shape [", x.dims()[x.rank() - 1], "] for an input of shape ",
                   x.dims(), ", got ", bias.dims());
  auto max_magnitude =
      std::max({range.most, -range.least, bias_range.most, -bias_range.least}) * (1 << 17);
  quantized_range sum{dtype::i32, -max_magnitude, max_magnitude};
  TROUPE_TRY(give_range(at, sum));
  auto biases = quantized_bias_add_as_summands(bias_range, sum);
  for (auto& bias_value : biases) // each summand includes the zero of the sum
    bias_value = wrapping(std::plus<>{}, bias_value, static_cast<int32_t>(sum.nearest(0)));
  return combine_bytes(at, x.dims(), quantized_bias_add_as_summands(range, sum), biases,
                       std::plus<>{});
}

} // namespace

extern constexpr kernel_def quantized_add_cpu{
    .op = "QuantizedAdd",
    .run = {{dtype::none, run_quantized_add}},
    .key = "T1",
};

extern constexpr kernel_def quantized_mul_cpu{
    .op = "QuantizedMul",
    .run = {{dtype::none, run_quantized_mul}},
    .key = "T1",
};

extern constexpr kernel_def quantized_bias_add_cpu{
    .op = "QuantizedBiasAdd",
    .run = {{dtype::none, run_quantized_bias_add}},
    .key = "T1",
};

} // namespace troupe::ops::quantized_add_cpu
