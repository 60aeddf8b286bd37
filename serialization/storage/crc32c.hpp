// CRC32C (Castagnoli), the checksum of TFRecord files, event files and TensorFlow's checkpoints.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace troupe {

/// Continues the checksum `previous` of preceding bytes; uses the processor's instruction if it has
/// one.
uint32_t crc32c(std::span<const std::byte> bytes, uint32_t previous = 0) noexcept;

/// The same by table, on any processor.
uint32_t crc32c_by_table(std::span<const std::byte> bytes, uint32_t previous = 0) noexcept;

/// The stored form: the plain checksum of bytes that contain checksums would be weak.
constexpr uint32_t masked_crc(uint32_t crc) noexcept {
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}
inline uint32_t masked_crc32c(std::span<const std::byte> bytes) noexcept {
  return masked_crc(crc32c(bytes));
}

} // namespace troupe
