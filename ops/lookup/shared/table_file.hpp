// Reads keys and values from text files, one pair per line.
#pragma once
#include "troupe/ops/lookup/shared/lookup_table.hpp"

#include <iosfwd>

namespace troupe::ops {

/// The part of a line that is a key or a value: the index of a column, or
inline constexpr int64_t whole_line = -2, line_number = -1; ///< line_number counts from 0, as i64

struct table_file_format {
  int64_t key_index = 0, value_index = 0;
  int64_t lines = -1; ///< the number of lines to read; negative: all
  char delimiter = '\t';
  int64_t offset = 0; ///< added to line numbers
};

/// Fails where the file cannot provide keys or values of those types.
status check_table_file(const table_file_format& format, dtype key, dtype value);

/// Reads keys and values, both [lines]. Errors name the file, as `name`, and the line, counted from
/// 1 as in editors. Stops early, with any outcome, when `stop` is due.
result<table_content> read_table_lines(std::istream& in, const std::string& name,
                                       const table_file_format& format,
                                       const table_signature& signature,
                                       stop_signal* stop = nullptr);
result<table_content> read_table_file(const std::string& path, const table_file_format& format,
                                      const table_signature& signature,
                                      stop_signal* stop = nullptr);

} // namespace troupe::ops
