// XXH3 with 64 bits, the checksum of tensors in checkpoints.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace troupe {

/// The checksum of bytes that are added in parts. It does not depend on how they are divided.
class checksum_stream {
public:
  checksum_stream();
  checksum_stream(checksum_stream&&) noexcept;
  checksum_stream& operator=(checksum_stream&&) noexcept;
  ~checksum_stream();

  void add(std::span<const std::byte> bytes) noexcept;
  /// Returns the checksum of all bytes added since the last restart().
  uint64_t value() const noexcept;
  void restart() noexcept;

private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Formats a number as sixteen digits, as manifests contain it.
std::string to_hex(uint64_t number);
/// The inverse; returns nothing for any other text.
std::optional<uint64_t> parse_hex(std::string_view text) noexcept;

} // namespace troupe
