#include "troupe/ops/quantized/shared/quantized_range.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::ops {
namespace {

// Far beyond the whole numbers of any type, and sums of some still fit.
int64_t to_whole(double value) {
  constexpr double far = int64_t{1} << 60;
  return std::isnan(value) ? 0 : static_cast<int64_t>(std::clamp(value, -far, far));
}

result<float> scalar_at(const kernel_context& at, int i) {
  const auto& given = at.input(i);
  if (given.rank() != 0)
    return invalid("the ends of ranges must be scalars, got shape ", given.dims());
  return *given.data<float>();
}

} // namespace

quantized_range::quantized_range(dtype type, float real_least, float real_most)
    : least(real_least), most(real_most) {
  auto bits = type == dtype::i32 ? 32 : 8;
  lowest = type == dtype::u8 ? 0 : -(int64_t{1} << (bits - 1));
  highest = lowest + (int64_t{1} << bits) - 1;
}

// The two below do their arithmetic in this order, and round where it rounds, because others do: a
// graph gives the same whole numbers here as there.
int64_t quantized_range::whole(float real) const {
  if (least == most)
    return lowest;
  auto count = static_cast<double>(highest - lowest + 1);
  auto scale = count / (static_cast<double>(most - least) * (count / (count - 1)));
  return to_whole(std::round(real * scale) - std::round(least * scale)) + lowest;
}

float quantized_range::real(int64_t whole) const {
  if (least == most)
    return least;
  auto count = static_cast<double>(highest - lowest + 1);
  auto scale = static_cast<double>(most - least) * (count / (count - 1)) / count;
  auto rough = static_cast<float>(scale);
  auto first = double{std::round(least / rough) * rough};
  return static_cast<float>(first + static_cast<double>(whole - lowest) * scale);
}

int64_t quantized_range::nearest(float real) const {
  return std::clamp(whole(real), lowest, highest);
}

float quantized_range::step() const {
  return (most - least) / static_cast<float>(highest - lowest);
}

quantized_range range_of_products(const quantized_range& a, const quantized_range& b) {
  quantized_range made{dtype::i32, 0, 0};
  auto step = a.step() * b.step();
  made.least = step * static_cast<float>(made.lowest);
  made.most = step * static_cast<float>(made.highest);
  return made;
}

result<quantized_range> range_at(const kernel_context& at, int i, dtype type) {
  TROUPE_ASSIGN(auto least, scalar_at(at, i));
  TROUPE_ASSIGN(auto most, scalar_at(at, i + 1));
  if (!std::isfinite(least) || !std::isfinite(most) || least > most)
    return invalid("a range must be finite and its maximum not less than its minimum, got ", least,
                   " to ", most);
  return quantized_range{type, least, most};
}

result<quantized_range> wide_range_at(const kernel_context& at, int i, dtype type) {
  TROUPE_ASSIGN(auto range, range_at(at, i, type));
  if (range.least == range.most)
    return invalid("the maximum of a range must be larger than its minimum, got ", range.least,
                   " for both");
  return range;
}

status give_range(kernel_context& at, const quantized_range& range, int output) {
  TROUPE_ASSIGN(auto* least, at.allocate(output, shape{}));
  *least->data<float>() = range.least;
  TROUPE_ASSIGN(auto* most, at.allocate(output + 1, shape{}));
  *most->data<float>() = range.most;
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
