// .npz files: arrays that can be read can be written and read again. A wrong checksum is found only
// after all other errors.
#include "troupe/serialization/arrays/npz.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/support/simulated_disk.hpp"

namespace troupe::fuzz::npz {

FUZZ_TARGET(npz) {
  test::simulated_disk disk{1};
  disk.put("x", {reinterpret_cast<const char*>(data), size});
  auto archive = zip_reader::open(disk, "x");
  if (!archive)
    return 0;
  for (const auto& entry : archive->entries()) {
    auto wrong = entry;
    wrong.crc ^= 1;
    (void)archive->read(wrong);
  }
  auto reader = npz_reader::open(disk, "x");
  std::vector<std::pair<std::string, tensor>> arrays;
  for (const auto& name : reader->names())
    if (auto value = reader->read(name))
      arrays.emplace_back(name, *value);
  auto written = write_npz(disk, "y", arrays, size % 2 == 0);
  fuzz::require(written.ok());
  auto second_reader = npz_reader::open(disk, "y");
  fuzz::require(second_reader.ok());
  for (const auto& [name, value] : arrays) {
    auto copy = second_reader->read(name);
    fuzz::require(copy && identical(*copy, value));
  }
  return 0;
}

} // namespace troupe::fuzz::npz
