// Tables of LevelDB: rows that can be read can be written and read again. The checksums would stop
// nearly all inputs, so they are corrected as far as the reader gets.
#include "troupe/serialization/tensor_bundle/sorted_table.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/support/repaired_table.hpp"

namespace troupe::fuzz::sorted_table {

FUZZ_TARGET(sorted_table) {
  auto rows = test::read_repaired_table({reinterpret_cast<const char*>(data), size});
  if (!rows)
    return 0;
  auto copy = read_sorted_table(write_sorted_table(*rows));
  fuzz::require(copy.ok() && *copy == *rows);
  return 0;
}

} // namespace troupe::fuzz::sorted_table
