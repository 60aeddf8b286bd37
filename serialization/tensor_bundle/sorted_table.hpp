// The table format of LevelDB, in which TensorFlow stores the index of a checkpoint: blocks of keys
// and values in order, each block with a checksum, and an index of the blocks at the end. Blocks
// that are compressed with Snappy can be read. Written blocks are not compressed, like
// TensorFlow's.
//
// LevelDB's own reader is not for untrusted files: it allocates memory for a length before it
// compares the length with the size of the file (docs/decisions/043-file-formats.md).
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
/// byte offset of the damage, and with unimplemented for blocks with another compression.
result<std::vector<table_row>> read_sorted_table(std::string_view content);

/// Requires that keys ascend and that no key occurs twice.
std::string write_sorted_table(const std::vector<table_row>& rows);

} // namespace troupe
