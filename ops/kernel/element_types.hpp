// Lists of element types that kernels are instantiated for, and the arithmetic they share.
#pragma once
#include "troupe/runtime/graph/kernel.hpp"
#include "troupe/runtime/types/compute_type.hpp"

#include <type_traits>

// Compiles a loop three times; the loader picks the widest that the processor supports. Sanitizers
// start before the loader can pick, and clang before 17 has no clones of templates.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__AVX512F__)
#define TROUPE_SIMD_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define TROUPE_SIMD_CLONES
#endif

namespace troupe::ops {

template <class... Ts>
struct type_list {};

template <class... As, class... Bs>
constexpr type_list<As..., Bs...> operator+(type_list<As...>, type_list<Bs...>) {
  return {};
}

namespace types {
inline constexpr type_list<float16, bfloat16, float, double> floating;
inline constexpr type_list<std::complex<float>, std::complex<double>> complex;
inline constexpr type_list<int8_t, int16_t, int32_t, int64_t> signed_integers;
inline constexpr type_list<uint8_t, uint16_t, uint32_t, uint64_t> unsigned_integers;
inline constexpr auto integers = signed_integers + unsigned_integers;
inline constexpr auto real_numbers = floating + integers;
inline constexpr auto numbers = real_numbers + complex;
inline constexpr type_list<bool> boolean;
inline constexpr type_list<std::string> string;
} // namespace types

template <class T>
inline constexpr bool is_half = !computes_as_stored<T>;
template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;
/// The types for which several versions of a loop are worthwhile.
template <class T>
inline constexpr bool is_hot = std::is_same_v<T, float> || std::is_same_v<T, double>;

/// The element in its computation type.
template <class T>
constexpr decltype(auto) widen(const T& value) {
  if constexpr (is_half<T>)
    return static_cast<float>(value);
  else
    return (value);
}

/// Integers wrap around: signed overflow would be undefined, and small unsigned integers are
/// promoted to signed.
template <class Op, class T>
constexpr T wrapping(Op op, const T& a, const T& b) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    using wide = std::conditional_t<(sizeof(T) <= 4), uint32_t, uint64_t>;
    return static_cast<T>(op(static_cast<wide>(a), static_cast<wide>(b)));
  } else {
    return op(a, b);
  }
}

template <class T>
constexpr bool is_nan(const T& value) {
  return value != value;
}

} // namespace troupe::ops
