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

/// The checksum of bytes that come in parts; that of all together does not depend on the parts.
class checksum_stream {
public:
  checksum_stream();
  checksum_stream(checksum_stream&&) noexcept;
  checksum_stream& operator=(checksum_stream&&) noexcept;
  ~checksum_stream();

  void add(std::span<const std::byte> bytes) noexcept;
  /// Of all that was added.
  uint64_t value() const noexcept;
  void restart() noexcept;

private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Sixteen digits, as manifests have it.
std::string hex_text(uint64_t number);
/// The inverse; nothing for what is not exactly that.
std::optional<uint64_t> parse_hex(std::string_view text) noexcept;

} // namespace troupe
