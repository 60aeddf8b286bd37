// IDX files: a whole file and its items say the same.
#include "tests/fuzz/fuzz.hpp"
#include "tests/support/simulated_disk.hpp"
#include "troupe/serialization/records/fixed_records.hpp"

namespace troupe::fuzz::idx {

FUZZ_TARGET(idx) {
  test::simulated_disk disk{1};
  disk.put("x", {reinterpret_cast<const char*>(data), size});
  auto whole = read_idx(disk, "x");
  auto file = open_idx(disk, "x");
  if (!whole || !file)
    return 0;
  size_t at = 0;
  for (std::string one; *file->items->next(one); at += one.size()) {
    auto item = parse_idx_item(one, file->type, file->item);
    fuzz::require(item.ok());
    fuzz::require(std::memcmp(item->raw(), static_cast<char*>(whole->raw()) + at, one.size()) == 0);
  }
  fuzz::require(at == whole->bytes());
  return 0;
}

} // namespace troupe::fuzz::idx
