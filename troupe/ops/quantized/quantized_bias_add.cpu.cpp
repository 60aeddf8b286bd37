#include "troupe/ops/quantized/shared/byte_pairs.cpu.hpp"

#include <cmath>
#include <functional>

namespace troupe::ops::quantized_bias_add_cpu {
namespace {

// The largest i32 that a float can be.
constexpr float largest = 2147483520.0f;

// Bytes as whole numbers of the sum. In single precision: see quantized_range.
byte_table as_summands(const quantized_range& of, const quantized_range& sum) {
  auto steps = static_cast<double>(of.highest - of.lowest);
  auto step = static_cast<float>(static_cast<double>(of.most - of.least) / steps);
  auto least = of.least == of.most ? of.least : std::round(of.least / step) * step;
  auto first = least - static_cast<float>(of.lowest) * step;
  auto sum_steps = static_cast<double>(sum.highest - sum.lowest);
  auto scale = sum.most == sum.least
                   ? 0.0f
                   : static_cast<float>(sum_steps / static_cast<double>(sum.most - sum.least));
  auto shift = std::round(sum.least * scale) - static_cast<float>(sum.lowest);
  return tabulate(of, [&](int64_t whole) {
    auto place = std::round((first + static_cast<float>(whole) * step) * scale) - shift;
    return std::min(std::max(-2147483648.0f, place), largest); // NaN becomes the least
  });
}

status run(kernel_context& at) {
  const auto &x = at.input(0), &bias = at.input(1);
  TROUPE_ASSIGN(auto range, range_at(at, 2, x.type()));
  TROUPE_ASSIGN(auto bias_range, range_at(at, 4, bias.type()));
  if (x.rank() < 2)
    return invalid("input must have at least 2 axes, got shape ", x.dims());
  if (bias.rank() != 1 || bias.elements() != x.dims()[x.rank() - 1])
    return invalid("bias must have shape [", x.dims()[x.rank() - 1], "] for an input of shape ",
                   x.dims(), ", got ", bias.dims());
  auto far = std::max({range.most, -range.least, bias_range.most, -bias_range.least}) * (1 << 17);
  quantized_range sum{dtype::i32, -far, far};
  TROUPE_TRY(give_range(at, sum));
  auto biases = as_summands(bias_range, sum);
  for (auto& one : biases) // each summand has the zero of the sum in it
    one = wrapping(std::plus<>{}, one, static_cast<int32_t>(sum.nearest(0)));
  return combine_bytes(at, x.dims(), as_summands(range, sum), biases, std::plus<>{});
}

} // namespace

extern constexpr kernel_def quantized_bias_add_cpu{
    .op = "QuantizedBiasAdd",
    .run = {{dtype::none, run}},
    .key = "T1",
};

} // namespace troupe::ops::quantized_bias_add_cpu
