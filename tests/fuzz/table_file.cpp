// Text files of tables: a key and a value for each line, or an error.
#include "troupe/ops/lookup/shared/table_file.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <sstream>

namespace troupe::fuzz::table_file {

FUZZ_TARGET(table_file) {
  const std::string text{reinterpret_cast<const char*>(data), size};
  const ops::table_file_format formats[] = {
      {.key_index = ops::whole_line, .value_index = ops::line_number, .offset = INT64_MAX},
      {.key_index = 0, .value_index = 1},
      {.key_index = 2, .value_index = 0, .lines = 2, .delimiter = ','},
  };
  for (const auto& format : formats)
    for (auto key : {dtype::i32, dtype::i64, dtype::string})
      for (auto value :
           {dtype::boolean, dtype::i32, dtype::i64, dtype::f32, dtype::f64, dtype::string}) {
        std::istringstream in{text};
        ops::table_signature holds{.key = key, .value = value, .constant = true};
        auto read = ops::read_table_lines(in, "fuzz", format, holds);
        fuzz::require(read.ok() || read.status().kind() != error_kind::internal);
        if (!read)
          continue;
        fuzz::require(read->keys.type() == key && read->values.type() == value);
        fuzz::require(read->keys.dims() == read->values.dims());
        ops::lookup_table table{"t", holds};
        auto filled = table.initialize(*read, heap_allocator());
        fuzz::require(filled.ok() || filled.kind() == error_kind::invalid_argument);
        fuzz::require(!filled.ok() || table.initialize(*read, heap_allocator()).ok());
      }
  return 0;
}

} // namespace troupe::fuzz::table_file
