// Interface of readers of record files. A reader has a position, from which another reader can
// continue, also in another process.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <string>
#include <string_view>

namespace troupe {

class record_reader {
public:
  virtual ~record_reader() = default;

  /// Reads the next record into `record`, whose memory it reuses. Returns false at the end of the
  /// file. Errors name the file, the record and the byte at which it begins: data_loss for damage;
  /// out_of_range for a file that ends within a record, because it was cut off or is still being
  /// written; resource_exhausted for a record that is longer than allowed. After an error the
  /// reader still is before that record, unless the format says otherwise.
  virtual result<bool> next(std::string& record) = 0;

  /// The position of the next record, for seek(): "BYTE RECORD", numbers from 0. In a compressed
  /// file, bytes are counted after decompression.
  virtual std::string position() const = 0;

  /// Moves to a position that a reader of the same file returned. In a compressed file, this reads
  /// everything before it again. Fails with invalid_argument for a malformed position, and leaves
  /// the reader where it is.
  virtual status seek(std::string_view position) = 0;
};

} // namespace troupe
