#include "troupe/runtime/types/dtype.hpp"

#include "troupe/runtime/types/tensor_list.hpp"

#include <array>
#include <ostream>

namespace troupe {
namespace {

struct description {
  std::string_view name;
  size_t size;
};

constexpr std::array<description, dtype_count> descriptions{{
    {"none", 0},
    {"bool", 1},
    {"u8", 1},
    {"u16", 2},
    {"u32", 4},
    {"u64", 8},
    {"i8", 1},
    {"i16", 2},
    {"i32", 4},
    {"i64", 8},
    {"f16", 2},
    {"bf16", 2},
    {"f32", 4},
    {"f64", 8},
    {"c64", 8},
    {"c128", 16},
    {"string", sizeof(std::string)},
    {"variant", sizeof(tensor_list)},
}};

const description& describe(dtype type) noexcept {
  auto index = static_cast<size_t>(type);
  return descriptions[index < descriptions.size() ? index : 0];
}

} // namespace

// Rounds to nearest even; overflows to infinity, keeps NaN.
float16::float16(float value) noexcept {
  auto word = std::bit_cast<uint32_t>(value);
  uint32_t sign = word >> 16 & 0x8000u;
  uint32_t magnitude = word & 0x7fffffffu;
  if (magnitude >= 0x7f800000u) { // infinity or NaN
    bits = static_cast<uint16_t>(sign | 0x7c00u | (magnitude > 0x7f800000u ? 0x200u : 0u));
  } else if (magnitude >= 0x477ff000u) { // rounds beyond the largest half
    bits = static_cast<uint16_t>(sign | 0x7c00u);
  } else if (magnitude < 0x38800000u) { // subnormal: let the float adder round
    auto scaled = std::bit_cast<float>(magnitude) + 0.5f;
    bits = static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(scaled) - 0x3f000000u));
  } else {
    uint32_t odd = magnitude >> 13 & 1u;
    bits = static_cast<uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
  }
}

float16::operator float() const noexcept {
  uint32_t sign = uint32_t{bits & 0x8000u} << 16;
  uint32_t exponent = bits >> 10 & 0x1fu;
  uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0x1f)
    return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent == 0) {
    auto value = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(value) | sign);
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

bfloat16::bfloat16(float value) noexcept {
  auto word = std::bit_cast<uint32_t>(value);
  if ((word & 0x7fffffffu) > 0x7f800000u)
    bits = static_cast<uint16_t>(word >> 16 | 0x40u);
  else
    bits = static_cast<uint16_t>((word + 0x7fffu + (word >> 16 & 1u)) >> 16);
}

size_t size_of(dtype type) noexcept { return describe(type).size; }

std::string_view to_string(dtype type) noexcept { return describe(type).name; }

std::ostream& operator<<(std::ostream& out, dtype type) { return out << to_string(type); }

std::optional<dtype> dtype_from(std::string_view name) noexcept {
  for (size_t i = 1; i < descriptions.size(); ++i)
    if (descriptions[i].name == name)
      return static_cast<dtype>(i);
  return std::nullopt;
}

std::ostream& operator<<(std::ostream& out, dtype_set types) {
  const char* separator = "";
  for (int i = 1; i < dtype_count; ++i)
    if (types.contains(static_cast<dtype>(i))) {
      out << separator << static_cast<dtype>(i);
      separator = ", ";
    }
  return out;
}

} // namespace troupe
