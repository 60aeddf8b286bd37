#include "troupe/runtime/program/check_numerics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <limits>

namespace troupe {
namespace {

// Calls `visit` with the elements of a type that knows NaN; says whether it is one.
template <class Visit>
bool visit_floats(const tensor& what, Visit visit) {
  switch (what.type()) {
    case dtype::f16: visit(what.values<float16>()); return true;
    case dtype::bf16: visit(what.values<bfloat16>()); return true;
    case dtype::f32: visit(what.values<float>()); return true;
    case dtype::f64: visit(what.values<double>()); return true;
    case dtype::c64: visit(what.values<std::complex<float>>()); return true;
    case dtype::c128: visit(what.values<std::complex<double>>()); return true;
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

// All ones in the exponent mean NaN or infinity.
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

// In blocks, so that the loop is vector code and a bad element near the beginning is found early.
template <class T>
bool finite(std::span<const T> values) {
  constexpr auto mask = exponent_mask<T>();
  constexpr size_t block = 1024;
  for (size_t begin = 0; begin < values.size(); begin += block) {
    auto part = values.subspan(begin, std::min(block, values.size() - begin));
    unsigned bad = 0;
    for (const auto& x : part)
      bad |= (std::bit_cast<decltype(exponent_mask<T>())>(x) & mask) == mask;
    if (bad)
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

bool all_finite(const tensor& what) noexcept {
  bool fine = true;
  visit_floats(what,
               [&]<class T>(std::span<T> values) { fine = finite(std::span<const T>{values}); });
  return fine;
}

value_summary summarize(const tensor& what) noexcept {
  value_summary found{.type = what.type(), .dims = what.dims()};
  bool any = false;
  visit_floats(what, [&](auto values) {
    for (size_t i = 0; i < values.size(); ++i) {
      auto x = magnitude(values[i]);
      if (std::isfinite(x)) {
        found.least = any ? std::min(found.least, x) : x;
        found.most = any ? std::max(found.most, x) : x;
        any = true;
        continue;
      }
      ++(std::isnan(x) ? found.nans : found.infinities);
      if (found.first < 0)
        found.first = static_cast<int64_t>(i);
    }
  });
  return found;
}

std::string describe(const value_summary& what) {
  auto text = concat(what.type, what.dims);
  auto elements = what.dims.elements();
  auto bad = what.nans + what.infinities;
  switch (what.type) {
    case dtype::f16:
    case dtype::bf16:
    case dtype::f32:
    case dtype::f64:
    case dtype::c64:
    case dtype::c128: break;
    default: return text;
  }
  auto range = concat("from ", what.least, " to ", what.most);
  if (what.finite())
    return elements == 0 ? text : concat(text, ": finite, ", range);
  return concat(text, ": ", bad, " of ", elements, elements == 1 ? " value" : " values",
                bad == 1 ? " is" : " are", " not finite (", what.nans, " NaN, ", what.infinities,
                " infinite), the first at ", position(what.first, what.dims),
                bad < elements ? "; the others " + range : "");
}

} // namespace troupe
