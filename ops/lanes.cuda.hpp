// Arithmetic that the bodies of element-wise kernels share. Includes nothing, because the compiler
// that joins such kernels at run time reads it, too (ops/fused.cuda.cpp).
#pragma once

namespace troupe::ops::gpu {

template <class T>
struct unsigned_of {
  using type = T;
};
template <>
struct unsigned_of<signed char> {
  using type = unsigned;
};
template <>
struct unsigned_of<unsigned char> {
  using type = unsigned;
};
template <>
struct unsigned_of<short> {
  using type = unsigned;
};
template <>
struct unsigned_of<unsigned short> {
  using type = unsigned;
};
template <>
struct unsigned_of<int> {
  using type = unsigned;
};
template <>
struct unsigned_of<long> {
  using type = unsigned long;
};

/// Whole numbers wrap around.
template <class T>
TROUPE_DEVICE T sum(T a, T b) {
  using wide = typename unsigned_of<T>::type;
  return static_cast<T>(static_cast<wide>(a) + static_cast<wide>(b));
}
template <class T>
TROUPE_DEVICE T difference(T a, T b) {
  using wide = typename unsigned_of<T>::type;
  return static_cast<T>(static_cast<wide>(a) - static_cast<wide>(b));
}
template <class T>
TROUPE_DEVICE T product(T a, T b) {
  using wide = typename unsigned_of<T>::type;
  return static_cast<T>(static_cast<wide>(a) * static_cast<wide>(b));
}

/// NaN where one of them is.
template <class T>
TROUPE_DEVICE T larger(T a, T b) {
  return b > a || b != b ? b : a;
}
template <class T>
TROUPE_DEVICE T smaller(T a, T b) {
  return b < a || b != b ? b : a;
}

template <class T>
TROUPE_DEVICE T logistic(T x) {
  return T(1) / (T(1) + exp(-x));
}

} // namespace troupe::ops::gpu
