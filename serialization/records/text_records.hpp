// Readers of lines of text and of the records of CSV files.
#pragma once
#include "troupe/runtime/state/record_reader.hpp"
#include "troupe/serialization/records/streams.hpp"

namespace troupe {

struct text_options {
  compression kind = compression::none;
  uint64_t max_record_bytes = uint64_t{1} << 24; ///< the maximum of a line or record
  uint64_t skip = 0; ///< lines or records to skip at the start: headings
};

/// Reads lines, without their ends "\n" or "\r\n". The last line may have no end.
result<std::unique_ptr<record_reader>> open_lines(file_system& files, const std::string& path,
                                                  const text_options& options = {});

/// Reads the records of a CSV file, for DecodeCSV: lines as above, except that a line end within
/// quotes is part of its field. Fails with data_loss for a file that ends within quotes.
result<std::unique_ptr<record_reader>> open_csv(file_system& files, const std::string& path,
                                                const text_options& options = {});

} // namespace troupe
