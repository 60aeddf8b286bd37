// Tables of LevelDB for fuzzing.
#pragma once
#include "troupe/serialization/storage/crc32c.hpp"
#include "troupe/serialization/tensor_bundle/sorted_table.hpp"

#include <charconv>
#include <cstring>

namespace troupe::test {

/// Reads a table, and corrects each checksum that the reader reports as wrong.
inline result<std::vector<table_row>> read_repaired_table(std::string_view content) {
  std::string file{content};
  for (int i = 0; i < 100; ++i) {
    auto rows = read_sorted_table(file);
    if (rows)
      return rows;
    // "the block at byte 123 of 45 bytes has a wrong checksum"
    auto message = rows.status().message();
    auto byte_position = message.find("byte "), of_position = message.find(" of "),
         bytes = message.find(" bytes has a wrong");
    size_t offset = 0, size = 0;
    if (bytes == message.npos || of_position > bytes)
      return rows;
    std::from_chars(message.data() + byte_position + 5, message.data() + of_position, offset);
    std::from_chars(message.data() + of_position + 4, message.data() + bytes, size);
    auto crc = masked_crc32c(std::as_bytes(std::span{file}.subspan(offset, size + 1)));
    std::memcpy(file.data() + offset + size + 1, &crc, sizeof crc);
  }
  return read_sorted_table(file);
}

} // namespace troupe::test
