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

bool close(float actual, float expected, double tolerance) {
  return close(double{actual}, double{expected}, tolerance);
}
bool close(float16 actual, float16 expected, double tolerance) {
  return close(static_cast<float>(actual), static_cast<float>(expected), tolerance);
}
bool close(bfloat16 actual, bfloat16 expected, double tolerance) {
  return close(static_cast<float>(actual), static_cast<float>(expected), tolerance);
}
template <class T>
bool close(std::complex<T> actual, std::complex<T> expected, double tolerance) {
  return close(actual.real(), expected.real(), tolerance) &&
         close(actual.imag(), expected.imag(), tolerance);
}

std::string format_index(int64_t index, const shape& dims) {
  std::string text = "]";
  for (int axis = dims.rank() - 1; axis >= 0; --axis) {
    text.insert(0, concat(axis ? "," : "", index % dims[axis]));
    index /= dims[axis];
  }
  return "[" + text;
}

template <class T>
bool compare(const tensor& actual, const tensor& expected, double tolerance, std::string* message) {
  auto actual_values = actual.values<T>(), expected_values = expected.values<T>();
  int64_t first = -1, different = 0;
  for (size_t i = 0; i < actual_values.size(); ++i)
    if (!close(actual_values[i], expected_values[i], tolerance)) {
      if (different++ == 0)
        first = static_cast<int64_t>(i);
    }
  if (different && message) {
    // Printing goes through a tensor of one element, which can print every type.
    auto element = static_cast<size_t>(first);
    *message = concat("element ", format_index(first, actual.dims()), " is ",
                      tensor::scalar(T{actual_values[element]}), ", expected ",
                      tensor::scalar(T{expected_values[element]}), " within ", tolerance, "; ",
                      different, " of ", actual.elements(), " elements differ");
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

bool close_to(const tensor& actual, const tensor& expected, double tolerance,
              std::string* message) {
  if (actual.type() != expected.type() || !(actual.dims() == expected.dims())) {
    if (message)
      *message = concat("is ", actual.type(), actual.dims(), ", expected ", expected.type(),
                        expected.dims());
    return false;
  }
  switch (actual.type()) {
    case dtype::none: return true;
    case dtype::boolean: return compare<bool>(actual, expected, tolerance, message);
    case dtype::u8: return compare<uint8_t>(actual, expected, tolerance, message);
    case dtype::u16: return compare<uint16_t>(actual, expected, tolerance, message);
    case dtype::u32: return compare<uint32_t>(actual, expected, tolerance, message);
    case dtype::u64: return compare<uint64_t>(actual, expected, tolerance, message);
    case dtype::i8: return compare<int8_t>(actual, expected, tolerance, message);
    case dtype::i16: return compare<int16_t>(actual, expected, tolerance, message);
    case dtype::i32: return compare<int32_t>(actual, expected, tolerance, message);
    case dtype::i64: return compare<int64_t>(actual, expected, tolerance, message);
    case dtype::f16: return compare<float16>(actual, expected, tolerance, message);
    case dtype::bf16: return compare<bfloat16>(actual, expected, tolerance, message);
    case dtype::f32: return compare<float>(actual, expected, tolerance, message);
    case dtype::f64: return compare<double>(actual, expected, tolerance, message);
    case dtype::c64: return compare<std::complex<float>>(actual, expected, tolerance, message);
    case dtype::c128: return compare<std::complex<double>>(actual, expected, tolerance, message);
    case dtype::string: return compare<std::string>(actual, expected, tolerance, message);
    case dtype::variant: return identical(actual, expected);
  }
  return false;
}

} // namespace troupe
