// IDX files: a whole file and its items have the same content.
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
  for (std::string item_bytes; *file->items->next(item_bytes); at += item_bytes.size()) {
    auto item = parse_idx_item(item_bytes, file->type, file->item);
    fuzz::require(item.ok());
    fuzz::require(
        std::memcmp(item->raw(), static_cast<char*>(whole->raw()) + at, item_bytes.size()) == 0);
  }
  fuzz::require(at == whole->bytes());
  return 0;
}

} // namespace troupe::fuzz::idx
