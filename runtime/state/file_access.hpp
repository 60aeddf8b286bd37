// What responders have done with files. Implemented over disks in serialization/records/,
// and called by threads that may wait for them.
#pragma once
#include "troupe/runtime/state/record_reader.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// What a record of a file is.
enum class record_format : uint8_t {
  none,     ///< no file is read: the name is the record
  whole,    ///< the file
  line,     ///< without its end
  fixed,    ///< so many bytes
  tfrecord, ///< as TFRecord files have them
};

/// How a file is cut into records.
struct record_layout {
  record_format format = record_format::none;
  std::string compression = {};           ///< as TensorFlow names it: "", "ZLIB" or "GZIP"
  int64_t skip_lines = 0;                 ///< of `line`
  int64_t head_bytes = 0, tail_bytes = 0; ///< of `fixed`, before and behind the records
  int64_t record_bytes = 0;               ///< of `fixed`
  int64_t hop_bytes = 0; ///< of `fixed`, from the begin of one to the next; 0: record_bytes
  bool operator==(const record_layout&) const = default;
};

/// Errors name the file. Any thread may call.
class file_access {
public:
  virtual ~file_access() = default;
  virtual result<std::unique_ptr<record_reader>> open(const std::string& path,
                                                      const record_layout& layout) = 0;
  virtual result<std::string> read(const std::string& path) = 0;
  /// Replaces the file, or makes it, and the folders around it.
  virtual status write(const std::string& path, std::string_view content) = 0;
  /// The files whose paths fit a pattern, in order: `*`, `?` and `[a-z]` stand for what they do in
  /// a shell, within a name. None is no error.
  virtual result<std::vector<std::string>> match(const std::string& pattern) = 0;
};

} // namespace troupe
