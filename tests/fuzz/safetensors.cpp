// safetensors: tensors that can be read can be written and read again.
#include "troupe/serialization/checkpoint/safetensors.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/support/simulated_disk.hpp"

namespace troupe::fuzz::safetensors {

FUZZ_TARGET(safetensors) {
  test::simulated_disk disk{1};
  disk.put("x", {reinterpret_cast<const char*>(data), size});
  auto reader = safetensors_reader::open(disk, "x");
  if (!reader)
    return 0;
  std::vector<std::pair<std::string, tensor>> all;
  for (const auto& each : reader->tensors()) {
    if (auto value = reader->read(each.name); value && each.name != "__metadata__")
      all.emplace_back(each.name, *value);
    if (each.dims.rank() > 0 && each.dims[0] > 1)
      (void)reader->read_rows(each.name, 1, each.dims[0] - 1);
  }
  auto stored = write_safetensors(disk, "y", all, reader->metadata());
  fuzz::require(stored.ok());
  auto again = safetensors_reader::open(disk, "y");
  fuzz::require(again.ok());
  for (const auto& [name, value] : all) {
    auto copy = again->read(name);
    fuzz::require(copy && identical(*copy, value));
  }
  return 0;
}

} // namespace troupe::fuzz::safetensors
