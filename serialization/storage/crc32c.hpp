// CRC32C (Castagnoli), the checksum of TFRecord files, event files and TensorFlow's checkpoints.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace troupe {

/// Continues the checksum of what came before; with the processor's instruction where it has one.
uint32_t crc32c(std::span<const std::byte> bytes, uint32_t before = 0) noexcept;

/// The same from a table, on any processor.
uint32_t crc32c_by_table(std::span<const std::byte> bytes, uint32_t before = 0) noexcept;

/// What is stored: a checksum of bytes that hold checksums themselves would be weak.
constexpr uint32_t masked_crc(uint32_t crc) noexcept {
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}
inline uint32_t masked_crc32c(std::span<const std::byte> bytes) noexcept {
  return masked_crc(crc32c(bytes));
}

} // namespace troupe
