#include "troupe/ops/quantized/shared/quantized_range.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>

namespace troupe::ops::requantize_cpu {
namespace {

// The range of those whole numbers that input 0, of i32, really has; it has 0 in any case unless
// all are below.
result<quantized_range> used_range(kernel_context& at, dtype type) {
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto range, range_at(at, 1, x.type()));
  auto values = x.values<int32_t>();
  std::mutex mutex;
  int32_t least = INT32_MAX, most = INT32_MIN;
  at.parallel_for(x.elements(), 0.2, [&](int64_t begin, int64_t end) {
    auto low = INT32_MAX, high = INT32_MIN;
    for (auto i = begin; i < end; ++i) {
      auto value = values[static_cast<size_t>(i)];
      low = std::min(low, value);
      high = std::max(high, value);
    }
    std::lock_guard guard{mutex};
    least = std::min(least, low);
    most = std::max(most, high);
  });
  return quantized_range{type, std::min(0.0f, range.real(least)), range.real(most)};
}

// Maps i32 to bytes with numbers that have 16 bits behind the point: a product, of which 32 bits
// are dropped, a sum, and rounding.
struct requantizer {
  int64_t scale, offset, lowest;

  requantizer(const quantized_range& from, const quantized_range& to) : lowest(to.lowest) {
    constexpr double one = 1 << 16, bytes = 255;
    auto size = from.most - from.least, new_size = to.most - to.least;
    auto middle = static_cast<float>((from.least + from.most) / 2.0);
    auto per_byte = new_size == 0 ? 0.0f : static_cast<float>(bytes / new_size);
    auto whole = [&](double value) {
      constexpr double far = int64_t{1} << 60;
      return std::isnan(value) ? 0 : static_cast<int64_t>(std::clamp(value, -far, far));
    };
    scale = new_size == 0 ? 0 : whole(bytes * one * size / new_size);
    auto before = new_size == 0 ? 0 : whole(one * (to.least * bytes) / new_size);
    offset = whole(middle * per_byte * static_cast<float>(one)) - before + (1 << 15);
  }

  int64_t operator()(int32_t x) const {
    __extension__ using wide = __int128;
    auto place = static_cast<int64_t>((wide{x} * scale) >> 32) + offset;
    return std::clamp<int64_t>(place >> 16, 0, 255) + lowest;
  }
};

// Output 0 from input 0, both with their range, which becomes outputs 1 and 2.
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
