// Checkpoints of TensorFlow, version 1: a table of any rows. A checkpoint that can be read can be
// written and read again.
#include "troupe/serialization/tensor_bundle/slice_file.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/support/repaired_table.hpp"
#include "tests/support/simulated_disk.hpp"
#include "troupe/serialization/tensor_bundle/sorted_table.hpp"

namespace troupe::fuzz::slice_file {

FUZZ_TARGET(slice_file) {
  std::string_view content{reinterpret_cast<const char*>(data), size};
  auto rows = test::read_repaired_table(content);
  if (!rows)
    return 0;
  test::simulated_disk disk{1};
  disk.put("x", write_sorted_table(*rows));
  auto reader = slice_file_reader::open(disk, "x");
  if (!reader)
    return 0;
  slice_file_writer writer{disk, "y"};
  std::vector<std::pair<std::string, tensor>> read;
  for (const auto& entry : reader->tensors()) {
    auto value = reader->read(entry.name);
    if (!value || entry.name.empty())
      continue;
    const std::vector<int64_t> origin(static_cast<size_t>(value->rank()));
    fuzz::require(writer.add(entry.name, value->dims(), origin, *value).ok());
    read.emplace_back(entry.name, *value);
  }
  fuzz::require(writer.finish().ok());
  auto second_reader = slice_file_reader::open(disk, "y");
  fuzz::require(second_reader.ok());
  for (const auto& [name, value] : read) {
    auto copy = second_reader->read(name);
    fuzz::require(copy && identical(*copy, value));
  }
  return 0;
}

} // namespace troupe::fuzz::slice_file
