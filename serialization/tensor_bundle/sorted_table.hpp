// The table format of LevelDB, in which TensorFlow keeps the index of a checkpoint: blocks of keys
// and values in order, each with a checksum, and an index of the blocks at the end. Blocks that are
// compressed with Snappy are read; what is written is not compressed, as TensorFlow writes it.
//
// LevelDB's own reader is not for foreign files: it takes memory for a length before it looks how
// long the file is (docs/decisions/043-file-formats.md).
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace troupe {

struct table_row {
  std::string key, value;

  bool operator==(const table_row&) const = default;
};

/// Reads all rows of a file's content; their keys ascend. Fails with data_loss for damage, with the
/// byte at which it is, and with unimplemented for blocks that are compressed otherwise.
result<std::vector<table_row>> read_sorted_table(std::string_view content);

/// Requires that keys ascend and that none is there twice.
std::string write_sorted_table(const std::vector<table_row>& rows);

} // namespace troupe
