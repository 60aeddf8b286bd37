#include "troupe/ops/quantized/shared/quantized_range.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::ops {
namespace {

// A limit far beyond the numbers of any type, such that sums of a few still fit.
int64_t to_whole(double value) {
  constexpr double limit = int64_t{1} << 60;
  return std::isnan(value) ? 0 : static_cast<int64_t>(std::clamp(value, -limit, limit));
}

result<float> scalar_at(const kernel_context& at, int i) {
  const auto& input = at.input(i);
  if (input.rank() != 0)
    return invalid("the ends of ranges must be scalars, got shape ", input.dims());
  return *input.data<float>();
}

} // namespace

quantized_range::quantized_range(dtype type, float real_least, float real_most)
    : least(real_least), most(real_most) {
  auto bits = type == dtype::i32 ? 32 : 8;
  lowest = type == dtype::u8 ? 0 : -(int64_t{1} << (bits - 1));
  highest = lowest + (int64_t{1} << bits) - 1;
}

// The next two functions use TensorFlow's order of operations and its rounding, so that a graph
// gives the same numbers.
int64_t quantized_range::whole(float real) const {
  if (least == most)
    return lowest;
  auto count = static_cast<double>(highest - lowest + 1);
  auto scale = count / (static_cast<double>(most - least) * (count / (count - 1)));
  return to_whole(std::round(real * scale) - std::round(least * scale)) + lowest;
}

float quantized_range::real(int64_t number) const {
  if (least == most)
    return least;
  auto count = static_cast<double>(highest - lowest + 1);
  auto scale = static_cast<double>(most - least) * (count / (count - 1)) / count;
  auto rough = static_cast<float>(scale);
  auto first = double{std::round(least / rough) * rough};
  return static_cast<float>(first + static_cast<double>(number - lowest) * scale);
}

int64_t quantized_range::nearest(float real) const {
  return std::clamp(whole(real), lowest, highest);
}

float quantized_range::step() const {
  return (most - least) / static_cast<float>(highest - lowest);
}

quantized_range range_of_products(const quantized_range& a, const quantized_range& b) {
  quantized_range range{dtype::i32, 0, 0};
  auto step = a.step() * b.step();
  range.least = step * static_cast<float>(range.lowest);
  range.most = step * static_cast<float>(range.highest);
  return range;
}

result<quantized_range> range_at(const kernel_context& at, int i, dtype type) {
  TROUPE_ASSIGN(auto range_min, scalar_at(at, i));
  TROUPE_ASSIGN(auto range_max, scalar_at(at, i + 1));
  if (!std::isfinite(range_min) || !std::isfinite(range_max) || range_min > range_max)
    return invalid("a range must be finite and its maximum not less than its minimum, got ",
                   range_min, " to ", range_max);
  return quantized_range{type, range_min, range_max};
}

result<quantized_range> wide_range_at(const kernel_context& at, int i, dtype type) {
  TROUPE_ASSIGN(auto range, range_at(at, i, type));
  if (range.least == range.most)
    return invalid("the maximum of a range must be larger than its minimum, got ", range.least,
                   " for both");
  return range;
}

status give_range(kernel_context& at, const quantized_range& range, int output) {
  TROUPE_ASSIGN(auto* min_output, at.allocate(output, shape{}));
  *min_output->data<float>() = range.least;
  TROUPE_ASSIGN(auto* max_output, at.allocate(output + 1, shape{}));
  *max_output->data<float>() = range.most;
  return {};
}

result<shapes> infer_quantized(const infer_context& at, const partial_shape& dims,
                               int first_range) {
  for (int i = first_range; i < at.inputs(); ++i)
    TROUPE_TRY(at.of_rank(i, 0).status());
  partial_shape scalar{shape{}};
  return shapes{dims, scalar, scalar};
}

} // namespace troupe::ops
