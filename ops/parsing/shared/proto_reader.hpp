// Reads Protobuf's wire format field by field, without a schema and never beyond its end, for
// frequent messages of which few fields matter.
#pragma once
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::ops {

/// Reads a varint from the front; nullopt where the bytes end early or the number is too large.
inline std::optional<uint64_t> take_varint(std::string_view& from) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !from.empty(); shift += 7) {
    auto byte = static_cast<unsigned char>(from.front());
    from.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 127) << shift;
    if (byte < 128)
      return value;
  }
  return std::nullopt;
}

/// Reads a little-endian number of 4 or 8 bytes.
inline std::optional<uint64_t> take_fixed(std::string_view& from, size_t bytes) {
  uint64_t value = 0;
  if (from.size() < bytes)
    return std::nullopt;
  std::memcpy(&value, from.data(), bytes);
  from.remove_prefix(bytes);
  return value;
}

inline void put_varint(std::string& to, uint64_t value) {
  for (; value > 127; value >>= 7)
    to += static_cast<char>((value & 127) | 128);
  to += static_cast<char>(value);
}

class proto_reader {
public:
  enum class wire : uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

  explicit proto_reader(std::string_view message) : unread_(message) {}

  /// Advances to the next field. Returns false at the end and for malformed bytes.
  bool next() {
    if (unread_.empty() || broken_)
      return false;
    auto tag = take_varint(unread_);
    if (!tag || *tag >> 3 == 0 || *tag >> 32 != 0)
      return fail();
    field_ = static_cast<uint32_t>(*tag >> 3);
    kind_ = static_cast<wire>(*tag & 7);
    switch (kind_) {
      case wire::varint: return take(take_varint(unread_));
      case wire::fixed64: return take(take_fixed(unread_, 8));
      case wire::fixed32: return take(take_fixed(unread_, 4));
      case wire::bytes: break;
      default: return fail();
    }
    auto length = take_varint(unread_);
    if (!length || *length > unread_.size())
      return fail();
    bytes_ = unread_.substr(0, *length);
    unread_.remove_prefix(*length);
    return true;
  }

  bool broken() const noexcept { return broken_; }
  uint32_t field() const noexcept { return field_; }
  wire kind() const noexcept { return kind_; }
  bool is(uint32_t field, wire kind) const noexcept { return field_ == field && kind_ == kind; }
  std::string_view bytes() const noexcept { return bytes_; } ///< the content of a field of bytes
  uint64_t number() const noexcept { return number_; }       ///< the content of any other field

private:
  bool fail() {
    broken_ = true;
    return false;
  }
  bool take(std::optional<uint64_t> number) {
    if (!number)
      return fail();
    number_ = *number;
    return true;
  }

  std::string_view unread_, bytes_;
  uint64_t number_ = 0;
  uint32_t field_ = 0;
  wire kind_ = wire::varint;
  bool broken_ = false;
};

} // namespace troupe::ops
