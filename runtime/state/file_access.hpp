// The file operations that readers and other resources need. Implemented for disks in
// serialization/records/, and called by threads that may block on them.
#pragma once
#include "troupe/runtime/state/record_reader.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// The unit in which a file is read.
enum class record_format : uint8_t {
  none,     ///< no file is read: the name is the record
  whole,    ///< the whole file is one record
  line,     ///< a line, without its line end
  fixed,    ///< a fixed number of bytes
  tfrecord, ///< a record of a TFRecord file
};

/// The division of a file into records.
struct record_layout {
  record_format format = record_format::none;
  std::string compression = {};           ///< TensorFlow's names: "", "ZLIB" or "GZIP"
  int64_t skip_lines = 0;                 ///< `line`: lines to skip at the beginning
  int64_t head_bytes = 0, tail_bytes = 0; ///< `fixed`: bytes before and after the records
  int64_t record_bytes = 0;               ///< `fixed`
  int64_t hop_bytes = 0; ///< `fixed`: from the begin of a record to the next; 0: record_bytes
  bool operator==(const record_layout&) const = default;
};

/// Errors name the file. Any thread may call.
class file_access {
public:
  virtual ~file_access() = default;
  virtual result<std::unique_ptr<record_reader>> open(const std::string& path,
                                                      const record_layout& layout) = 0;
  virtual result<std::string> read(const std::string& path) = 0;
  /// Replaces the file, or creates it and its parent folders.
  virtual status write(const std::string& path, std::string_view content) = 0;
  /// Returns the sorted paths of the files that match a pattern. `*`, `?` and `[a-z]` mean the same
  /// as in a shell, within one path component. No match is not an error.
  virtual result<std::vector<std::string>> match(const std::string& pattern) = 0;
};

} // namespace troupe
