// Writes Protobuf's wire format field by field, without a schema.
#pragma once
#include "troupe/ops/parsing/shared/proto_reader.hpp"

#include <bit>

namespace troupe::ops {

/// A field of bytes, of text or of a message: its tag, its length, its content.
inline void put_bytes(std::string& to, int field, std::string_view bytes) {
  put_varint(to, static_cast<uint64_t>(field) << 3 | 2);
  put_varint(to, bytes.size());
  to += bytes;
}

inline void put_number(std::string& to, int field, uint64_t value) {
  put_varint(to, static_cast<uint64_t>(field) << 3);
  put_varint(to, value);
}

/// A little-endian number of 4 or 8 bytes.
template <class T>
void put_fixed(std::string& to, T value) {
  using bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  static_assert(sizeof(T) == sizeof(bits));
  auto remaining = std::bit_cast<bits>(value);
  for (size_t i = 0; i < sizeof(T); ++i, remaining >>= 8)
    to += static_cast<char>(remaining & 255);
}

inline void put_float(std::string& to, int field, float value) {
  put_varint(to, static_cast<uint64_t>(field) << 3 | 5);
  put_fixed(to, value);
}

inline void put_double(std::string& to, int field, double value) {
  put_varint(to, static_cast<uint64_t>(field) << 3 | 1);
  put_fixed(to, value);
}

} // namespace troupe::ops
