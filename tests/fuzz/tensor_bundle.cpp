// Checkpoints of TensorFlow: an index of any rows over a file of data. A checkpoint that can be
// read can be written and read again.
#include "troupe/serialization/tensor_bundle/tensor_bundle.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/support/repaired_table.hpp"
#include "tests/support/simulated_disk.hpp"
#include "troupe/serialization/tensor_bundle/sorted_table.hpp"

namespace troupe::fuzz::tensor_bundle {

FUZZ_TARGET(tensor_bundle) {
  // The index, followed by the content of the data files.
  std::string_view content{reinterpret_cast<const char*>(data), size};
  auto rows = test::read_repaired_table(content.substr(0, content.size() - content.size() / 4));
  if (!rows)
    return 0;
  test::simulated_disk disk{1};
  disk.put("x.index", write_sorted_table(*rows));
  for (auto name : {"x.data-00000-of-00001", "x.data-00000-of-00002", "x.data-00001-of-00002"})
    disk.put(name, content.substr(content.size() - content.size() / 4));
  auto reader = tensor_bundle_reader::open(disk, "x");
  if (!reader)
    return 0;
  auto writer = tensor_bundle_writer::begin(disk, "y");
  std::vector<std::pair<std::string, tensor>> read;
  for (const auto& entry : reader->tensors()) {
    if (entry.type != dtype::string && entry.dims.elements() > 1 << 20)
      continue;
    auto value = reader->read(entry.name);
    if (!value)
      continue;
    fuzz::require(writer->add(entry.name, *value).ok());
    read.emplace_back(entry.name, *value);
  }
  fuzz::require(writer->finish().ok());
  auto second_reader = tensor_bundle_reader::open(disk, "y");
  fuzz::require(second_reader.ok());
  for (const auto& [name, value] : read) {
    auto copy = second_reader->read(name);
    fuzz::require(copy && identical(*copy, value));
  }
  return 0;
}

} // namespace troupe::fuzz::tensor_bundle
