#include "troupe/serialization/storage/crc32c.hpp"

#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace troupe {
namespace {

constexpr uint32_t polynomial = 0x82f63b78; // with its bits reversed

using tables = std::array<std::array<uint32_t, 256>, 8>;

// Table 0 continues a checksum by one byte; table k by a byte that k bytes follow.
constexpr tables make_tables() {
  tables entries{};
  for (uint32_t i = 0; i < 256; ++i) {
    auto crc = i;
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ (crc & 1 ? polynomial : 0);
    entries[0][i] = crc;
  }
  for (size_t k = 1; k < entries.size(); ++k)
    for (size_t i = 0; i < 256; ++i)
      entries[k][i] = entries[k - 1][i] >> 8 ^ entries[0][entries[k - 1][i] & 0xff];
  return entries;
}

constexpr auto byte_tables = make_tables();

uint64_t read_word(const std::byte* bytes) noexcept {
  static_assert(std::endian::native == std::endian::little);
  uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

#if defined(__x86_64__)

// The crc32 instruction has a latency of three cycles and a throughput of one per cycle: three
// interleaved parts of a block keep the unit busy.
constexpr size_t part_bytes = 4096;

// The checksum after `part_bytes` zeros, for each value of each byte of the checksum before.
using shift_tables = std::array<std::array<uint32_t, 256>, 4>;

constexpr shift_tables make_shift_tables() {
  // A checksum is a vector over bits, and a zero byte is a matrix. Squaring doubles the zeros.
  std::array<uint32_t, 32> matrix{};
  for (uint32_t bit = 0; bit < 32; ++bit) {
    auto crc = uint32_t{1} << bit;
    for (int i = 0; i < 8; ++i)
      crc = crc >> 1 ^ (crc & 1 ? polynomial : 0);
    matrix[bit] = crc;
  }
  auto times = [](const std::array<uint32_t, 32>& factor, uint32_t crc) {
    uint32_t sum = 0;
    for (uint32_t bit = 0; bit < 32; ++bit)
      if (crc >> bit & 1)
        sum ^= factor[bit];
    return sum;
  };
  for (size_t bytes = 1; bytes < part_bytes; bytes *= 2) {
    auto squared = matrix;
    for (auto& column : squared)
      column = times(matrix, column);
    matrix = squared;
  }
  shift_tables entries{};
  for (uint32_t k = 0; k < 4; ++k)
    for (uint32_t i = 0; i < 256; ++i)
      entries[k][i] = times(matrix, i << 8 * k);
  return entries;
}

constexpr auto shifts = make_shift_tables();

uint32_t shifted(uint32_t crc) noexcept {
  return shifts[0][crc & 0xff] ^ shifts[1][crc >> 8 & 0xff] ^ shifts[2][crc >> 16 & 0xff] ^
         shifts[3][crc >> 24];
}

[[gnu::target("sse4.2")]] uint32_t by_instruction(const std::byte* position, size_t bytes_left,
                                                  uint32_t crc) noexcept {
  for (; bytes_left >= 3 * part_bytes; position += 3 * part_bytes, bytes_left -= 3 * part_bytes) {
    uint64_t a = crc, b = 0, c = 0;
    for (size_t i = 0; i < part_bytes; i += 8) {
      a = _mm_crc32_u64(a, read_word(position + i));
      b = _mm_crc32_u64(b, read_word(position + part_bytes + i));
      c = _mm_crc32_u64(c, read_word(position + 2 * part_bytes + i));
    }
    crc = shifted(shifted(static_cast<uint32_t>(a)) ^ static_cast<uint32_t>(b)) ^
          static_cast<uint32_t>(c);
  }
  uint64_t wide_crc = crc;
  for (; bytes_left >= 8; position += 8, bytes_left -= 8)
    wide_crc = _mm_crc32_u64(wide_crc, read_word(position));
  crc = static_cast<uint32_t>(wide_crc);
  for (; bytes_left > 0; ++position, --bytes_left)
    crc = _mm_crc32_u8(crc, static_cast<uint8_t>(*position));
  return crc;
}

#endif

} // namespace

uint32_t crc32c_by_table(std::span<const std::byte> bytes, uint32_t previous) noexcept {
  auto crc = ~previous;
  const auto* position = bytes.data();
  auto bytes_left = bytes.size();
  for (; bytes_left >= 8; position += 8, bytes_left -= 8) {
    auto word = read_word(position) ^ crc;
    crc = 0;
    for (size_t i = 0; i < 8; ++i)
      crc ^= byte_tables[7 - i][word >> 8 * i & 0xff];
  }
  for (; bytes_left > 0; ++position, --bytes_left)
    crc = crc >> 8 ^ byte_tables[0][(crc ^ static_cast<uint32_t>(*position)) & 0xff];
  return ~crc;
}

uint32_t crc32c(std::span<const std::byte> bytes, uint32_t previous) noexcept {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") > 0;
  if (has_instruction)
    return ~by_instruction(bytes.data(), bytes.size(), ~previous);
#endif
  return crc32c_by_table(bytes, previous);
}

} // namespace troupe
