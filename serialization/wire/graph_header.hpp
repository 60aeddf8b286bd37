// The format of a written graph: a header (magic "TRPG", version u32, bytes of the structure u64,
// XXH3 of the following bytes u64, zero u64), the structure (Cap'n Proto), and the payloads of
// large tensors, each at the next multiple of the tensors' alignment.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

namespace troupe {

inline constexpr uint32_t graph_magic = 0x47505254; // "TRPG"
inline constexpr uint32_t graph_version = 1;
inline constexpr size_t graph_header_bytes = 32;

/// The offset of a payload after `bytes` bytes.
constexpr uint64_t payload_offset(uint64_t bytes) {
  return (bytes + tensor_alignment - 1) / tensor_alignment * tensor_alignment;
}

} // namespace troupe
