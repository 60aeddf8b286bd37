#include "troupe/serialization/text/close_to.hpp"

#include <algorithm>
#include <cmath>

namespace troupe {
namespace {

// Integers and strings are not converted: an i64 does not fit a double.
template <class T>
bool close(const T& actual, const T& expected, double) {
  return actual == expected;
}

bool close(double actual, double expected, double tolerance) {
  if (std::isnan(actual) || std::isnan(expected))
    return std::isnan(actual) && std::isnan(expected);
  if (std::isinf(actual) || std::isinf(expected))
    return actual == expected;
  return std::abs(actual - expected) <= tolerance * std::max(1.0, std::abs(expected));
}

bool close(float a, float b, double tolerance) { return close(double{a}, double{b}, tolerance); }
bool close(float16 a, float16 b, double tolerance) {
  return close(static_cast<float>(a), static_cast<float>(b), tolerance);
}
bool close(bfloat16 a, bfloat16 b, double tolerance) {
  return close(static_cast<float>(a), static_cast<float>(b), tolerance);
}
template <class T>
bool close(std::complex<T> a, std::complex<T> b, double tolerance) {
  return close(a.real(), b.real(), tolerance) && close(a.imag(), b.imag(), tolerance);
}

std::string place_of(int64_t index, const shape& dims) {
  std::string text = "]";
  for (int axis = dims.rank() - 1; axis >= 0; --axis) {
    text.insert(0, concat(axis ? "," : "", index % dims[axis]));
    index /= dims[axis];
  }
  return "[" + text;
}

template <class T>
bool compare(const tensor& actual, const tensor& expected, double tolerance, std::string* why) {
  auto a = actual.values<T>(), e = expected.values<T>();
  int64_t first = -1, different = 0;
  for (size_t i = 0; i < a.size(); ++i)
    if (!close(a[i], e[i], tolerance)) {
      if (different++ == 0)
        first = static_cast<int64_t>(i);
    }
  if (different && why) {
    // Printing goes through a tensor of one element, which knows how to print every type.
    auto at = static_cast<size_t>(first);
    *why = concat("element ", place_of(first, actual.dims()), " is ", tensor::scalar(T{a[at]}),
                  ", expected ", tensor::scalar(T{e[at]}), " within ", tolerance, "; ", different,
                  " of ", actual.elements(), " elements differ");
  }
  return different == 0;
}

} // namespace

double default_tolerance(dtype type) noexcept {
  switch (type) {
    case dtype::f32:
    case dtype::c64: return 1e-5;
    case dtype::f64:
    case dtype::c128: return 1e-12;
    case dtype::f16:
    case dtype::bf16: return 1e-2;
    default: return 0;
  }
}

bool close_to(const tensor& actual, const tensor& expected, double tolerance, std::string* why) {
  if (actual.type() != expected.type() || !(actual.dims() == expected.dims())) {
    if (why)
      *why = concat("is ", actual.type(), actual.dims(), ", expected ", expected.type(),
                    expected.dims());
    return false;
  }
  switch (actual.type()) {
    case dtype::none: return true;
    case dtype::boolean: return compare<bool>(actual, expected, tolerance, why);
    case dtype::u8: return compare<uint8_t>(actual, expected, tolerance, why);
    case dtype::u16: return compare<uint16_t>(actual, expected, tolerance, why);
    case dtype::u32: return compare<uint32_t>(actual, expected, tolerance, why);
    case dtype::u64: return compare<uint64_t>(actual, expected, tolerance, why);
    case dtype::i8: return compare<int8_t>(actual, expected, tolerance, why);
    case dtype::i16: return compare<int16_t>(actual, expected, tolerance, why);
    case dtype::i32: return compare<int32_t>(actual, expected, tolerance, why);
    case dtype::i64: return compare<int64_t>(actual, expected, tolerance, why);
    case dtype::f16: return compare<float16>(actual, expected, tolerance, why);
    case dtype::bf16: return compare<bfloat16>(actual, expected, tolerance, why);
    case dtype::f32: return compare<float>(actual, expected, tolerance, why);
    case dtype::f64: return compare<double>(actual, expected, tolerance, why);
    case dtype::c64: return compare<std::complex<float>>(actual, expected, tolerance, why);
    case dtype::c128: return compare<std::complex<double>>(actual, expected, tolerance, why);
    case dtype::string: return compare<std::string>(actual, expected, tolerance, why);
    case dtype::variant: return identical(actual, expected);
  }
  return false;
}

} // namespace troupe
