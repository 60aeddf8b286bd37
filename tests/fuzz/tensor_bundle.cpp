// Checkpoints of TensorFlow: an index of any rows over a file of data. What can be read can be
// written and read again.
#include "troupe/serialization/tensor_bundle/tensor_bundle.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/support/mended_table.hpp"
#include "tests/support/simulated_disk.hpp"
#include "troupe/serialization/tensor_bundle/sorted_table.hpp"

namespace troupe::fuzz::tensor_bundle {

FUZZ_TARGET(tensor_bundle) {
  // The index, and what is in the data files, follow each other.
  std::string_view all{reinterpret_cast<const char*>(data), size};
  auto rows = test::read_mended_table(all.substr(0, all.size() - all.size() / 4));
  if (!rows)
    return 0;
  test::simulated_disk disk{1};
  disk.put("x.index", write_sorted_table(*rows));
  for (auto name : {"x.data-00000-of-00001", "x.data-00000-of-00002", "x.data-00001-of-00002"})
    disk.put(name, all.substr(all.size() - all.size() / 4));
  auto reader = tensor_bundle_reader::open(disk, "x");
  if (!reader)
    return 0;
  auto writer = tensor_bundle_writer::begin(disk, "y");
  std::vector<std::pair<std::string, tensor>> read;
  for (const auto& each : reader->tensors()) {
    if (each.type != dtype::string && each.dims.elements() > 1 << 20)
      continue;
    auto value = reader->read(each.name);
    if (!value)
      continue;
    fuzz::require(writer->add(each.name, *value).ok());
    read.emplace_back(each.name, *value);
  }
  fuzz::require(writer->finish().ok());
  auto again = tensor_bundle_reader::open(disk, "y");
  fuzz::require(again.ok());
  for (const auto& [name, value] : read) {
    auto copy = again->read(name);
    fuzz::require(copy && identical(*copy, value));
  }
  return 0;
}

} // namespace troupe::fuzz::tensor_bundle
