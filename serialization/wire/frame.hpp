// Frames: how messages and chunks of payload follow each other on a byte stream.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace troupe {

inline constexpr uint32_t frame_magic = 0x31505254; // "TRP1"
inline constexpr size_t frame_header_bytes = 32;
inline constexpr size_t chunk_bytes = 256 * 1024;

enum class frame_kind : uint8_t {
  message = 1, ///< a message; `transfer` is the number of its first payload
  chunk = 2,   ///< the next bytes of the payload `transfer`
};

/// 32 bytes, little-endian: magic u32, kind u8, flags u8 (0), reserved u16 (0), size u32, check
/// u32, transfer u64, checksum u64. `check` is the low half of XXH3 of the header with check = 0,
/// so that a length is known to be what was sent before it is used; `checksum` is XXH3 of the body.
struct frame_header {
  frame_kind kind = frame_kind::message;
  uint32_t size = 0;
  uint64_t transfer = 0;
  uint64_t checksum = 0;
};

uint64_t checksum_of(std::span<const std::byte> bytes) noexcept;

std::array<std::byte, frame_header_bytes> write_header(const frame_header& header) noexcept;

/// Makes the header for a body. Requires at most 4 GiB.
std::array<std::byte, frame_header_bytes> header_for(frame_kind kind, uint64_t transfer,
                                                     std::span<const std::byte> body) noexcept;

/// Receives what a frame_reader finds. An error from any function ends the reading with that error.
class frame_sink {
public:
  /// `body` is valid during the call.
  virtual status on_message(std::span<const std::byte> body, uint64_t first_transfer) = 0;
  /// Returns the memory for the next chunk of a transfer. The reader writes there while bytes come
  /// in, so it must stay until on_chunk(), or as long as the reader.
  virtual result<std::byte*> chunk_target(uint64_t transfer, size_t bytes) = 0;
  /// The chunk is complete and undamaged.
  virtual status on_chunk(uint64_t transfer, size_t bytes) = 0;

protected:
  ~frame_sink() = default;
};

/// Takes a stream apart. Memory: one message of at most `max_message` bytes, while it comes in
/// parts; little of that is kept.
class frame_reader {
public:
  explicit frame_reader(size_t max_message) : max_message_(max_message) {}

  /// The limit for messages that begin from now on.
  void set_max_message(size_t bytes) noexcept { max_message_ = bytes; }

  /// Takes bytes in any portions. After an error, all further calls return it again.
  status feed(std::span<const std::byte> bytes, frame_sink& to);

  /// Where the rest of the body belongs that is being read; empty between bodies. What is put there
  /// straight from a socket need not be fed: say how much it was with filled().
  std::span<std::byte> gap() const noexcept;
  status filled(size_t bytes, frame_sink& to);

private:
  status take_header(std::span<const std::byte> rest, frame_sink& to);
  status check_body(std::span<const std::byte> body) const;
  status finish_body(frame_sink& to);

  size_t max_message_;
  std::array<std::byte, frame_header_bytes> header_bytes_{};
  size_t have_ = 0; // of the header, or of the body once the header is complete
  bool in_body_ = false;
  bool first_ = true; // nothing valid has come yet: a stranger, perhaps
  frame_header header_;
  std::byte* target_ = nullptr;
  std::unique_ptr<std::byte[]> message_; // that came in parts
  size_t message_room_ = 0;
  status failed_;
};

} // namespace troupe
