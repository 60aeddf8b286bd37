#include "troupe/ops/quantized/shared/quantized_range.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>

namespace troupe::ops::requantize_cpu {
namespace {

// The range of the numbers that actually occur in input 0, of i32. It includes 0, unless all
// numbers are negative.
result<quantized_range> used_range(kernel_context& at, dtype type) {
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto range, range_at(at, 1, x.type()));
  auto values = x.values<int32_t>();
  std::mutex mutex;
  int32_t smallest = INT32_MAX, greatest = INT32_MIN;
  at.parallel_for(x.elements(), 0.2, [&](int64_t begin, int64_t end) {
    auto low = INT32_MAX, high = INT32_MIN;
    for (auto i = begin; i < end; ++i) {
      auto value = values[static_cast<size_t>(i)];
      low = std::min(low, value);
      high = std::max(high, value);
    }
    std::lock_guard guard{mutex};
    smallest = std::min(smallest, low);
    greatest = std::max(greatest, high);
  });
  return quantized_range{type, std::min(0.0f, range.real(smallest)), range.real(greatest)};
}

// Maps i32 to bytes in fixed point with 16 fractional bits: a product, of which 32 bits are
// dropped, a sum, and rounding.
struct requantizer {
  int64_t scale, offset, lowest;

  requantizer(const quantized_range& from, const quantized_range& to) : lowest(to.lowest) {
    constexpr double fixed_one = 1 << 16, bytes = 255;
    auto size = from.most - from.least, new_size = to.most - to.least;
    auto middle = static_cast<float>((from.least + from.most) / 2.0);
    auto per_byte = new_size == 0 ? 0.0f : static_cast<float>(bytes / new_size);
    auto to_integer = [&](double value) {
      constexpr double limit = int64_t{1} << 60;
      return std::isnan(value) ? 0 : static_cast<int64_t>(std::clamp(value, -limit, limit));
    };
    scale = new_size == 0 ? 0 : to_integer(bytes * fixed_one * size / new_size);
    auto range_start = new_size == 0 ? 0 : to_integer(fixed_one * (to.least * bytes) / new_size);
    offset =
        to_integer(middle * per_byte * static_cast<float>(fixed_one)) - range_start + (1 << 15);
  }

  int64_t operator()(int32_t x) const {
    __extension__ using wide = __int128;
    auto place = static_cast<int64_t>((wide{x} * scale) >> 32) + offset;
    return std::clamp<int64_t>(place >> 16, 0, 255) + lowest;
  }
};

// Computes output 0 from input 0. The new range becomes outputs 1 and 2.
status requantize(kernel_context& at, const quantized_range& to) {
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto from, range_at(at, 1, x.type()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, x.dims()));
  TROUPE_TRY(give_range(at, to));
  const auto* values = x.data<int32_t>();
  auto* bytes = static_cast<uint8_t*>(out->raw());
  requantizer map{from, to};
  at.parallel_for(x.elements(), 1, [&](int64_t begin, int64_t end) {
    std::transform(values + begin, values + end, bytes + begin,
                   [&](int32_t value) { return static_cast<uint8_t>(map(value)); });
  });
  return {};
}

status run_requantization_range(kernel_context& at) {
  TROUPE_ASSIGN(auto range, used_range(at, dtype::i32));
  return give_range(at, range, 0);
}

status run_requantize(kernel_context& at) {
  TROUPE_ASSIGN(auto to, range_at(at, 3, at.output_type(0)));
  if (to.least > 0)
    return invalid("requested_output_min must not be above 0, got ", to.least);
  return requantize(at, to);
}

status run_quantize_down_and_shrink_range(kernel_context& at) {
  TROUPE_ASSIGN(auto range, used_range(at, at.output_type(0)));
  return requantize(at, range);
}

} // namespace

extern constexpr kernel_def requantization_range_cpu{
    .op = "RequantizationRange",
    .run = {{dtype::none, run_requantization_range}},
    .key = "Tinput",
};

extern constexpr kernel_def requantize_cpu{
    .op = "Requantize",
    .run = {{dtype::none, run_requantize}},
    .key = "Tinput",
};

extern constexpr kernel_def quantize_down_and_shrink_range_cpu{
    .op = "QuantizeDownAndShrinkRange",
    .run = {{dtype::none, run_quantize_down_and_shrink_range}},
    .key = "Tinput",
};

} // namespace troupe::ops::requantize_cpu
