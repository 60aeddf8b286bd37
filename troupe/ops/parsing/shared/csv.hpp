// One record of comma-separated values (RFC 4180), and the fields that it has.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <string>
#include <string_view>

namespace troupe::ops {

struct csv_dialect {
  char delimiter = ',';
  bool quotes = true;
};

/// Calls `take(field)` for each field until it says that this is enough. An empty record has none.
template <class Take>
status read_record(std::string_view record, const csv_dialect& in, Take&& take) {
  const auto ends_line = [](char c) { return c == '\n' || c == '\r'; };
  const auto whole = record;
  std::string field;
  while (!record.empty()) {
    if (ends_line(record.front())) {
      record.remove_prefix(1);
      continue;
    }
    field.clear();
    if (in.quotes && record.front() == '"') {
      record.remove_prefix(1);
      for (;;) {
        auto quote = record.find('"');
        if (quote == record.npos)
          return invalid("a quoted field does not end");
        field += record.substr(0, quote);
        record.remove_prefix(quote + 1);
        if (record.empty() || record.front() == in.delimiter)
          break;
        if (record.front() != '"')
          return invalid("a quote in a quoted field must be doubled");
        field += '"';
        record.remove_prefix(1);
      }
    } else {
      field = record.substr(0, record.find(in.delimiter));
      for (char c : field)
        if (ends_line(c) || (in.quotes && c == '"'))
          return invalid("a field with quotes or ends of lines must be quoted");
      record.remove_prefix(field.size());
    }
    if (!record.empty())
      record.remove_prefix(1); // the delimiter
    if (!take(field))
      return {};
  }
  if (whole.ends_with(in.delimiter)) {
    field.clear();
    take(field);
  }
  return {};
}

} // namespace troupe::ops
