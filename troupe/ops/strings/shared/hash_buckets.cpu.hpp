// The kernel of ops that sort strings into buckets by a hash.
#pragma once
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/strings/shared/map.cpu.hpp"

#include <cstring>

namespace troupe::ops {

/// Eight bytes as a number, the least significant first.
inline uint64_t load_word(const char* from) {
  static_assert(std::endian::native == std::endian::little);
  uint64_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

/// The up to seven bytes that are left, likewise.
inline uint64_t load_rest(std::string_view bytes) {
  uint64_t word = 0;
  std::memcpy(&word, bytes.data(), bytes.size());
  return word;
}

/// The bucket of each string by `hash(text)`.
template <class Hash>
status to_buckets(kernel_context& at, int64_t buckets, Hash&& hash) {
  return map_strings<int64_t>(
      at,
      [&](const std::string& text) {
        return static_cast<int64_t>(hash(std::string_view{text}) % static_cast<uint64_t>(buckets));
      },
      20);
}

/// For kernels whose state is the attribute num_buckets.
template <uint64_t (*Hash)(std::string_view)>
status to_buckets(kernel_context& at) {
  return to_buckets(at, at.state<int64_t>(), Hash);
}

} // namespace troupe::ops
