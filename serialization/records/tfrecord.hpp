// TFRecord files: records of any bytes, each with its length (u64), a checksum of that, the bytes,
// and a checksum of these (masked CRC32C). The whole file may be compressed.
#pragma once
#include "troupe/runtime/state/record_reader.hpp"
#include "troupe/serialization/records/streams.hpp"

namespace troupe {

struct tfrecord_options {
  compression kind = compression::none;
  uint64_t most_bytes = uint64_t{1} << 30; ///< of a record
};

/// Where the bytes of a record are damaged, but not its length, the reader stands behind it after
/// the error: who can do without it calls next() again.
result<std::unique_ptr<record_reader>> open_tfrecord(file_system& files, const std::string& path,
                                                     const tfrecord_options& options = {});

class tfrecord_writer {
public:
  static result<tfrecord_writer> create(file_system& files, const std::string& path,
                                        compression kind = compression::none);

  status add(std::string_view record);
  /// Where the next record will begin.
  uint64_t offset() const noexcept { return stream_.offset(); }
  /// Readers see all records so far.
  status flush() { return stream_.flush(); }
  /// All records so far survive a crash.
  status sync() { return stream_.sync(); }
  /// Ends the file, and syncs it.
  status finish() { return stream_.finish(); }

private:
  explicit tfrecord_writer(output_stream to) : stream_(std::move(to)) {}
  output_stream stream_;
};

} // namespace troupe
