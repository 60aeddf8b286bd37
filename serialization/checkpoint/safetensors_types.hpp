// The element types of safetensors.
#pragma once
#include "troupe/runtime/types/dtype.hpp"
#include "troupe/runtime/types/shape.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace troupe::safetensors {

inline constexpr std::string_view mark = "troupe.type.";

inline constexpr size_t length_bytes = 8; // before the header

// The bytes that are hashed at once, before writing or after reading: they fit into the cache.
inline constexpr size_t part_bytes = size_t{1} << 20;

struct format_type {
  std::string_view name;
  dtype type;    ///< none: Troupe does not have it
  unsigned bits; ///< of an element
};

/// Finds a type of the format; null for an unknown name.
const format_type* find_type(std::string_view name) noexcept;
/// The type of the format that stores elements of `type`: U8 for string, F64 for c128.
std::string_view stored_name(dtype type) noexcept;

/// Writes "string[2,3]". parse_mark() is the inverse, and fails for any other text.
std::string mark_text(dtype type, const shape& dims);
result<std::pair<dtype, shape>> parse_mark(std::string_view text);

/// Returns the product, or nullopt if it is more than 2^62.
std::optional<uint64_t> multiplied(uint64_t a, uint64_t b) noexcept;

} // namespace troupe::safetensors
