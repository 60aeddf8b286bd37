// Pairs of keys and values in text files, a pair a line.
#pragma once
#include "troupe/ops/lookup/shared/lookup_table.hpp"

#include <iosfwd>

namespace troupe::ops {

/// Which part of a line is a key or a value: the number of a column, or
inline constexpr int64_t whole_line = -2, line_number = -1; ///< from 0, of type i64

struct table_file_format {
  int64_t key_index = 0, value_index = 0;
  int64_t lines = -1; ///< how many count; negative for all
  char delimiter = '\t';
  int64_t offset = 0; ///< is added to line numbers
};

/// Fails where the file cannot tell keys or values of those types.
status check_table_file(const table_file_format& format, dtype key, dtype value);

/// Reads keys and values, both [lines]. Errors name the file, as `name`, and the line, counted from
/// 1, as editors do. Leaves off, with any outcome, when a `stop` is due.
result<table_content> read_table_lines(std::istream& in, const std::string& name,
                                       const table_file_format& format, const table_signature& of,
                                       stop_signal* stop = nullptr);
result<table_content> read_table_file(const std::string& path, const table_file_format& format,
                                      const table_signature& of, stop_signal* stop = nullptr);

} // namespace troupe::ops
