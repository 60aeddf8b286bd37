// Readers and writers of TFRecord files. A record is its length (u64), a checksum of the length,
// its bytes, and a checksum of the bytes (masked CRC32C). The file may be compressed.
#pragma once
#include "troupe/runtime/state/record_reader.hpp"
#include "troupe/serialization/records/streams.hpp"

namespace troupe {

struct tfrecord_options {
  compression kind = compression::none;
  uint64_t max_record_bytes = uint64_t{1} << 30; ///< the maximum of a record
};

/// Opens a TFRecord file. After an error in the bytes of a record, but not in its length, the
/// reader is after that record: next() continues with the following one.
result<std::unique_ptr<record_reader>> open_tfrecord(file_system& files, const std::string& path,
                                                     const tfrecord_options& options = {});

class tfrecord_writer {
public:
  static result<tfrecord_writer> create(file_system& files, const std::string& path,
                                        compression kind = compression::none);

  status add(std::string_view record);
  /// The offset at which the next record begins.
  uint64_t offset() const noexcept { return stream_.offset(); }
  /// Makes all records so far visible to readers.
  status flush() { return stream_.flush(); }
  /// Makes all records so far durable.
  status sync() { return stream_.sync(); }
  /// Ends the file, and syncs it.
  status finish() { return stream_.finish(); }

private:
  explicit tfrecord_writer(output_stream stream) : stream_(std::move(stream)) {}
  output_stream stream_;
};

} // namespace troupe
