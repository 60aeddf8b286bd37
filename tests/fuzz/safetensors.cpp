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
  std::vector<std::pair<std::string, tensor>> tensors;
  for (const auto& entry : reader->tensors()) {
    if (auto value = reader->read(entry.name); value && entry.name != "__metadata__")
      tensors.emplace_back(entry.name, *value);
    if (entry.dims.rank() > 0 && entry.dims[0] > 1)
      (void)reader->read_rows(entry.name, 1, entry.dims[0] - 1);
  }
  auto stored = write_safetensors(disk, "y", tensors, reader->metadata());
  fuzz::require(stored.ok());
  auto second_reader = safetensors_reader::open(disk, "y");
  fuzz::require(second_reader.ok());
  for (const auto& [name, value] : tensors) {
    auto copy = second_reader->read(name);
    fuzz::require(copy && identical(*copy, value));
  }
  return 0;
}

} // namespace troupe::fuzz::safetensors
