#include "troupe/runtime/program/check_numerics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <limits>

namespace troupe {
namespace {

// Calls `visit` with the elements if their type has NaN; returns whether it has.
template <class Visit>
bool visit_floats(const tensor& value, Visit visit) {
  switch (value.type()) {
    case dtype::f16: visit(value.values<float16>()); return true;
    case dtype::bf16: visit(value.values<bfloat16>()); return true;
    case dtype::f32: visit(value.values<float>()); return true;
    case dtype::f64: visit(value.values<double>()); return true;
    case dtype::c64: visit(value.values<std::complex<float>>()); return true;
    case dtype::c128: visit(value.values<std::complex<double>>()); return true;
    default: return false;
  }
}

template <class T>
double magnitude(const T& x) {
  return static_cast<double>(static_cast<float>(x));
}
double magnitude(const double& x) { return x; }
template <class T>
double magnitude(const std::complex<T>& x) {
  if (std::isnan(x.real()) || std::isnan(x.imag()))
    return std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(x.real()) || std::isinf(x.imag()))
    return std::numeric_limits<double>::infinity();
  return std::min(std::abs(std::complex<double>{x}), std::numeric_limits<double>::max());
}

// In a NaN or an infinity, all bits of the exponent are ones.
template <class T>
constexpr auto exponent_mask() {
  if constexpr (std::is_same_v<T, float16>)
    return uint16_t{0x7c00};
  else if constexpr (std::is_same_v<T, bfloat16>)
    return uint16_t{0x7f80};
  else if constexpr (std::is_same_v<T, float>)
    return uint32_t{0x7f80'0000};
  else
    return uint64_t{0x7ff0'0000'0000'0000};
}

// Checks block by block, so that the loop is vectorized and an early non-finite element is found
// soon.
template <class T>
bool finite(std::span<const T> values) {
  constexpr auto mask = exponent_mask<T>();
  constexpr size_t block = 1024;
  for (size_t begin = 0; begin < values.size(); begin += block) {
    auto part = values.subspan(begin, std::min(block, values.size() - begin));
    unsigned has_bad = 0;
    for (const auto& x : part)
      has_bad |= (std::bit_cast<decltype(exponent_mask<T>())>(x) & mask) == mask;
    if (has_bad)
      return false;
  }
  return true;
}
template <class T>
bool finite(std::span<const std::complex<T>> values) {
  return finite(std::span<const T>{reinterpret_cast<const T*>(values.data()), 2 * values.size()});
}

std::string position(int64_t index, const shape& dims) {
  std::string text = "]";
  for (int axis = dims.rank(); axis-- > 0; index /= dims[axis])
    text.insert(0, concat(axis > 0 ? "," : "", index % dims[axis]));
  return "[" + text;
}

} // namespace

bool all_finite(const tensor& value) noexcept {
  bool all_fine = true;
  visit_floats(
      value, [&]<class T>(std::span<T> values) { all_fine = finite(std::span<const T>{values}); });
  return all_fine;
}

value_summary summarize(const tensor& value) noexcept {
  value_summary summary{.type = value.type(), .dims = value.dims()};
  bool has_finite = false;
  visit_floats(value, [&](auto values) {
    for (size_t i = 0; i < values.size(); ++i) {
      auto x = magnitude(values[i]);
      if (std::isfinite(x)) {
        summary.minimum = has_finite ? std::min(summary.minimum, x) : x;
        summary.maximum = has_finite ? std::max(summary.maximum, x) : x;
        has_finite = true;
        continue;
      }
      ++(std::isnan(x) ? summary.nans : summary.infinities);
      if (summary.first_index < 0)
        summary.first_index = static_cast<int64_t>(i);
    }
  });
  return summary;
}

std::string describe(const value_summary& summary) {
  auto text = concat(summary.type, summary.dims);
  auto elements = summary.dims.elements();
  auto bad = summary.nans + summary.infinities;
  switch (summary.type) {
    case dtype::f16:
    case dtype::bf16:
    case dtype::f32:
    case dtype::f64:
    case dtype::c64:
    case dtype::c128: break;
    default: return text;
  }
  auto range = concat("from ", summary.minimum, " to ", summary.maximum);
  if (summary.finite())
    return elements == 0 ? text : concat(text, ": finite, ", range);
  return concat(text, ": ", bad, " of ", elements, elements == 1 ? " value" : " values",
                bad == 1 ? " is" : " are", " not finite (", summary.nans, " NaN, ",
                summary.infinities, " infinite), the first at ",
                position(summary.first_index, summary.dims),
                bad < elements ? "; the others " + range : "");
}

} // namespace troupe
