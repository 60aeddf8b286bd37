// Files of records, read one after another. All readers are pulled, and say where they stand, so
// that reading can go on from there, in another process, too.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <string>
#include <string_view>

namespace troupe {

class record_reader {
public:
  virtual ~record_reader() = default;

  /// Reads the next record into `record`, whose memory is used again. Returns false at the end of
  /// the file. Errors name the file, the record and the byte at which it begins: data_loss for
  /// damage; out_of_range for a file that ends within a record, because it was cut off or is still
  /// being written; resource_exhausted for a record that is longer than allowed. The reader then
  /// still stands before that record, unless its kind says otherwise.
  virtual result<bool> next(std::string& record) = 0;

  /// Where the next record begins, for seek(): "BYTE RECORD", numbers that begin with 0. Bytes are
  /// those of what was compressed.
  virtual std::string position() const = 0;

  /// Goes to a position that a reader of the same file has said. In a compressed file, all before
  /// it is read again. Fails with invalid_argument for what is no position, and leaves the reader
  /// where it is.
  virtual status seek(std::string_view position) = 0;
};

} // namespace troupe
