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

// How much is hashed between reading and writing: it should still be in the cache.
inline constexpr size_t part_bytes = size_t{1} << 20;

struct format_type {
  std::string_view name;
  dtype type;    ///< none: we do not have it
  unsigned bits; ///< of an element
};

/// Null for an unknown name.
const format_type* find_type(std::string_view name) noexcept;
/// The type of the format that holds elements of ours: U8 for string, F64 for c128.
std::string_view stored_name(dtype type) noexcept;

/// "string[2,3]", and back; nothing for what is not exactly that.
std::string mark_text(dtype type, const shape& dims);
result<std::pair<dtype, shape>> parse_mark(std::string_view text);

/// What it says, or nothing if that is more than 2^62.
std::optional<uint64_t> multiplied(uint64_t a, uint64_t b) noexcept;

} // namespace troupe::safetensors
