#include "troupe/serialization/storage/crc32c.hpp"

#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace troupe {
namespace {

constexpr uint32_t polynomial = 0x82f63b78; // its bits in reverse

using tables = std::array<std::array<uint32_t, 256>, 8>;

// The first continues by one byte; the others by a byte that so many bytes follow.
constexpr tables make_tables() {
  tables made{};
  for (uint32_t i = 0; i < 256; ++i) {
    auto crc = i;
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ (crc & 1 ? polynomial : 0);
    made[0][i] = crc;
  }
  for (size_t k = 1; k < made.size(); ++k)
    for (size_t i = 0; i < 256; ++i)
      made[k][i] = made[k - 1][i] >> 8 ^ made[0][made[k - 1][i] & 0xff];
  return made;
}

constexpr auto by = make_tables();

uint64_t eight(const std::byte* at) noexcept {
  static_assert(std::endian::native == std::endian::little);
  uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

#if defined(__x86_64__)

// The instruction takes three cycles, and one can begin in each: three parts of a block side by
// side keep the processor busy.
constexpr size_t part_bytes = 4096;

// What a checksum becomes when `part_bytes` zeros follow it, for each value of each of its bytes.
using shift_tables = std::array<std::array<uint32_t, 256>, 4>;

constexpr shift_tables make_shift_tables() {
  // A checksum is a vector over bits, and a zero byte is a matrix; squared so often, it is many.
  std::array<uint32_t, 32> matrix{};
  for (uint32_t bit = 0; bit < 32; ++bit) {
    auto crc = uint32_t{1} << bit;
    for (int i = 0; i < 8; ++i)
      crc = crc >> 1 ^ (crc & 1 ? polynomial : 0);
    matrix[bit] = crc;
  }
  auto times = [](const std::array<uint32_t, 32>& with, uint32_t crc) {
    uint32_t sum = 0;
    for (uint32_t bit = 0; bit < 32; ++bit)
      if (crc >> bit & 1)
        sum ^= with[bit];
    return sum;
  };
  for (size_t bytes = 1; bytes < part_bytes; bytes *= 2) {
    auto squared = matrix;
    for (auto& column : squared)
      column = times(matrix, column);
    matrix = squared;
  }
  shift_tables made{};
  for (uint32_t k = 0; k < 4; ++k)
    for (uint32_t i = 0; i < 256; ++i)
      made[k][i] = times(matrix, i << 8 * k);
  return made;
}

constexpr auto shifts = make_shift_tables();

uint32_t shifted(uint32_t crc) noexcept {
  return shifts[0][crc & 0xff] ^ shifts[1][crc >> 8 & 0xff] ^ shifts[2][crc >> 16 & 0xff] ^
         shifts[3][crc >> 24];
}

[[gnu::target("sse4.2")]] uint32_t by_instruction(const std::byte* at, size_t bytes,
                                                  uint32_t crc) noexcept {
  for (; bytes >= 3 * part_bytes; at += 3 * part_bytes, bytes -= 3 * part_bytes) {
    uint64_t a = crc, b = 0, c = 0;
    for (size_t i = 0; i < part_bytes; i += 8) {
      a = _mm_crc32_u64(a, eight(at + i));
      b = _mm_crc32_u64(b, eight(at + part_bytes + i));
      c = _mm_crc32_u64(c, eight(at + 2 * part_bytes + i));
    }
    crc = shifted(shifted(static_cast<uint32_t>(a)) ^ static_cast<uint32_t>(b)) ^
          static_cast<uint32_t>(c);
  }
  uint64_t wide = crc;
  for (; bytes >= 8; at += 8, bytes -= 8)
    wide = _mm_crc32_u64(wide, eight(at));
  crc = static_cast<uint32_t>(wide);
  for (; bytes > 0; ++at, --bytes)
    crc = _mm_crc32_u8(crc, static_cast<uint8_t>(*at));
  return crc;
}

#endif

} // namespace

uint32_t crc32c_by_table(std::span<const std::byte> bytes, uint32_t before) noexcept {
  auto crc = ~before;
  const auto* at = bytes.data();
  auto left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    auto word = eight(at) ^ crc;
    crc = 0;
    for (size_t i = 0; i < 8; ++i)
      crc ^= by[7 - i][word >> 8 * i & 0xff];
  }
  for (; left > 0; ++at, --left)
    crc = crc >> 8 ^ by[0][(crc ^ static_cast<uint32_t>(*at)) & 0xff];
  return ~crc;
}

uint32_t crc32c(std::span<const std::byte> bytes, uint32_t before) noexcept {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") > 0;
  if (has_instruction)
    return ~by_instruction(bytes.data(), bytes.size(), ~before);
#endif
  return crc32c_by_table(bytes, before);
}

} // namespace troupe
