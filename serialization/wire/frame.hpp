// Frames: messages and chunks of payloads on a byte stream.
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
/// so that the size is verified before it is used; `checksum` is XXH3 of the body.
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

/// Receives the frames of a frame_reader. An error of any function ends the reading.
class frame_sink {
public:
  /// `body` is valid during the call.
  virtual status on_message(std::span<const std::byte> body, uint64_t first_transfer) = 0;
  /// Returns the memory for the next chunk of a transfer. The reader writes there as bytes arrive,
  /// so the memory must stay until on_chunk(), or as long as the reader.
  virtual result<std::byte*> chunk_target(uint64_t transfer, size_t bytes) = 0;
  /// Called when the chunk is complete and its checksum correct.
  virtual status on_chunk(uint64_t transfer, size_t bytes) = 0;

protected:
  ~frame_sink() = default;
};

/// Splits a stream into frames. Memory: one message of at most `max_message` bytes, while it
/// arrives in parts; only a small buffer is kept between messages.
class frame_reader {
public:
  explicit frame_reader(size_t max_message) : max_message_(max_message) {}

  /// Sets the limit for later messages.
  void set_max_message(size_t bytes) noexcept { max_message_ = bytes; }

  /// Consumes bytes in any portions. After an error, all further calls return the same error.
  status feed(std::span<const std::byte> bytes, frame_sink& sink);

  /// The place for the missing part of the current body; empty between bodies. Bytes that are
  /// written there, for instance by a socket, are reported with commit() instead of feed().
  std::span<std::byte> receive_space() const noexcept;
  status commit(size_t bytes, frame_sink& sink);

private:
  status take_header(std::span<const std::byte> following, frame_sink& sink);
  status check_body(std::span<const std::byte> body) const;
  status finish_body(frame_sink& sink);

  size_t max_message_;
  std::array<std::byte, frame_header_bytes> header_bytes_{};
  size_t have_ = 0; // bytes of the header, or of the body once the header is complete
  bool in_body_ = false;
  bool first_ = true; // no valid frame yet: the peer may not speak the protocol
  frame_header header_;
  std::byte* target_ = nullptr;
  std::unique_ptr<std::byte[]> message_; // a message that arrives in parts
  size_t message_room_ = 0;
  status failed_;
};

} // namespace troupe
