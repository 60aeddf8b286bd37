// The types that tensor elements can have, and the C++ types that hold them.
#pragma once
#include "troupe/runtime/export.hpp"

#include <bit>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace troupe {

class tensor_list;

enum class dtype : uint8_t {
  none, ///< no type: a kernel or port that does not depend on one
  boolean,
  u8,
  u16,
  u32,
  u64,
  i8,
  i16,
  i32,
  i64,
  f16,
  bf16,
  f32,
  f64,
  c64,
  c128,
  string,
  variant, ///< a tensor_list (tensor_list.hpp)
};

inline constexpr int dtype_count = 18;

/// An IEEE 754 half-precision number. Arithmetic is done in float.
struct TROUPE_API float16 {
  uint16_t bits = 0;
  float16() = default;
  explicit float16(float value) noexcept;
  explicit operator float() const noexcept;
  friend bool operator==(float16 a, float16 b) noexcept { return float(a) == float(b); }
};

/// The upper half of a float, rounded to nearest even. Arithmetic is done in float.
struct TROUPE_API bfloat16 {
  uint16_t bits = 0;
  bfloat16() = default;
  explicit bfloat16(float value) noexcept;
  explicit operator float() const noexcept { return std::bit_cast<float>(uint32_t{bits} << 16); }
  friend bool operator==(bfloat16 a, bfloat16 b) noexcept { return float(a) == float(b); }
};

/// Returns the bytes of one element; for `string` and `variant`, the size of the C++ object.
TROUPE_API size_t size_of(dtype type) noexcept;

/// Returns the short name: "f32", "bool", "string".
TROUPE_API std::string_view to_string(dtype type) noexcept;
TROUPE_API std::ostream& operator<<(std::ostream& out, dtype type);

/// Parses a short name. Returns nullopt for an unknown name.
TROUPE_API std::optional<dtype> dtype_from(std::string_view name) noexcept;

/// A set of types, as in `one_of(dtype::f32, dtype::f64)`.
class TROUPE_API dtype_set {
public:
  constexpr dtype_set() = default;
  constexpr dtype_set(std::initializer_list<dtype> types) {
    for (auto type : types)
      bits_ |= 1u << static_cast<uint8_t>(type);
  }
  constexpr bool contains(dtype type) const { return bits_ >> static_cast<uint8_t>(type) & 1u; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr dtype_set operator|(dtype_set other) const {
    dtype_set joined;
    joined.bits_ = bits_ | other.bits_;
    return joined;
  }
  constexpr bool operator==(const dtype_set&) const = default;

private:
  uint32_t bits_ = 0;
};

TROUPE_API std::ostream& operator<<(std::ostream& out, dtype_set types);

template <class... Types>
constexpr dtype_set one_of(Types... types) {
  return dtype_set{types...};
}

inline constexpr dtype_set floating{dtype::f16, dtype::bf16, dtype::f32, dtype::f64};
inline constexpr dtype_set complex_types{dtype::c64, dtype::c128};
inline constexpr dtype_set signed_integers{dtype::i8, dtype::i16, dtype::i32, dtype::i64};
inline constexpr dtype_set unsigned_integers{dtype::u8, dtype::u16, dtype::u32, dtype::u64};
inline constexpr dtype_set integers = signed_integers | unsigned_integers;
inline constexpr dtype_set real_numbers = floating | integers;
inline constexpr dtype_set numbers = real_numbers | complex_types;
inline constexpr dtype_set index_types{dtype::i32, dtype::i64};
inline constexpr dtype_set any_type = numbers | dtype_set{dtype::boolean, dtype::string};
/// Types accepted by ops that pass values through without computing on them.
inline constexpr dtype_set any_value = any_type | dtype_set{dtype::variant};

/// The dtype of a C++ element type: `dtype_of<float> == dtype::f32`.
template <class T>
inline constexpr dtype dtype_of = [] {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, bool>)
    return dtype::boolean;
  else if constexpr (std::is_same_v<U, float>)
    return dtype::f32;
  else if constexpr (std::is_same_v<U, double>)
    return dtype::f64;
  else if constexpr (std::is_same_v<U, float16>)
    return dtype::f16;
  else if constexpr (std::is_same_v<U, bfloat16>)
    return dtype::bf16;
  else if constexpr (std::is_same_v<U, std::complex<float>>)
    return dtype::c64;
  else if constexpr (std::is_same_v<U, std::complex<double>>)
    return dtype::c128;
  else if constexpr (std::is_same_v<U, std::string>)
    return dtype::string;
  else if constexpr (std::is_same_v<U, tensor_list>)
    return dtype::variant;
  else if constexpr (std::is_integral_v<U> && std::is_signed_v<U>)
    return sizeof(U) == 1   ? dtype::i8
           : sizeof(U) == 2 ? dtype::i16
           : sizeof(U) == 4 ? dtype::i32
                            : dtype::i64;
  else if constexpr (std::is_integral_v<U>)
    return sizeof(U) == 1   ? dtype::u8
           : sizeof(U) == 2 ? dtype::u16
           : sizeof(U) == 4 ? dtype::u32
                            : dtype::u64;
  else
    static_assert(sizeof(U) == 0, "no dtype holds this C++ type");
}();

} // namespace troupe
