#include "troupe/serialization/storage/crc32c.hpp"

#include "tests/support/catch.hpp"
#include "troupe/serialization/storage/checksum.hpp"

#include <boost/crc.hpp>

#include <random>
#include <string>
#include <vector>

namespace troupe::test::crc32c_test {
namespace {

std::vector<std::byte> noise(size_t size) {
  std::mt19937_64 random{size};
  std::vector<std::byte> bytes(size);
  for (auto& random_byte : bytes)
    random_byte = static_cast<std::byte>(random());
  return bytes;
}

uint32_t text_crc(std::string_view text) { return crc32c(std::as_bytes(std::span{text})); }

TEST_CASE("CRC32C matches RFC 3720") {
  CHECK(text_crc("123456789") == 0xe3069283);
  CHECK(text_crc("") == 0);
  CHECK(text_crc(std::string(32, '\0')) == 0x8a9136aa);
  CHECK(text_crc(std::string(32, '\xff')) == 0x62a8ab43);
  CHECK(masked_crc(0) == 0xa282ead8);
}

TEST_CASE("the processor's instruction and the table compute the CRC32C that Boost computes") {
  for (size_t size : {0, 1, 7, 8, 9, 63, 1000, 4096, 12287, 12288, 12289, 24576, 100003}) {
    auto bytes = noise(size);
    boost::crc_optimal<32, 0x1edc6f41, 0xffffffff, 0xffffffff, true, true> expected;
    expected.process_bytes(bytes.data(), bytes.size());
    CHECK(crc32c(bytes) == expected.checksum());
    CHECK(crc32c_by_table(bytes) == expected.checksum());
    for (size_t at : {size / 3, size / 2}) {
      auto random_bytes = std::span<const std::byte>{bytes};
      CHECK(crc32c(random_bytes.subspan(at), crc32c(random_bytes.first(at))) ==
            expected.checksum());
      CHECK(crc32c_by_table(random_bytes.subspan(at), crc32c_by_table(random_bytes.first(at))) ==
            expected.checksum());
    }
  }
}

TEST_CASE("the checksum of a stream does not depend on its parts") {
  auto bytes = noise(1 << 20);
  auto random_bytes = std::span<const std::byte>{bytes};
  checksum_stream whole_stream, parts, empty;
  whole_stream.add(random_bytes);
  for (size_t at = 0, size = 1; at < random_bytes.size(); at += size, size = size * 3 % 100003)
    parts.add(random_bytes.subspan(at, std::min(size, random_bytes.size() - at)));
  CHECK(whole_stream.value() == parts.value());
  CHECK(empty.value() == 0x2d06800538d394c2); // XXH3 with 64 bits of nothing
  whole_stream.restart();
  CHECK(whole_stream.value() == empty.value());
}

TEST_CASE("numbers are written with sixteen digits, and only such numbers are read") {
  CHECK(to_hex(0x123456789abcdef0) == "123456789abcdef0");
  CHECK(to_hex(1) == "0000000000000001");
  CHECK(parse_hex("123456789abcdef0") == 0x123456789abcdef0);
  for (auto text : {"", "1", "123456789abcdefg", "123456789ABCDEF0", "0123456789abcdef0"})
    CHECK_FALSE(parse_hex(text));
}

} // namespace
} // namespace troupe::test::crc32c_test
