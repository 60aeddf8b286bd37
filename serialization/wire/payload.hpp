// Conversion of a tensor's elements to plain bytes, and back with every check.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

namespace troupe {

/// Returns the elements as a u8 vector. Numbers share the tensor's memory, in little-endian order.
/// Strings are copied: the length of each as 8 bytes, then all their bytes.
result<tensor> to_payload(const tensor& value);

/// The size of to_payload(), without making it.
uint64_t payload_bytes(const tensor& value) noexcept;

/// The inverse, for types, extents and bytes from a peer or a file. Tensors of numbers share the
/// payload's memory. Fails with data_loss.
result<tensor> from_payload(uint8_t type, std::span<const int64_t> extents, const tensor& payload);

/// Copies bytes, whose size was checked, to a u8 vector.
result<tensor> bytes_to_tensor(std::span<const std::byte> bytes);

inline std::span<const std::byte> bytes_of(const tensor& payload) noexcept {
  return {static_cast<const std::byte*>(payload.raw()), payload.bytes()};
}

} // namespace troupe
