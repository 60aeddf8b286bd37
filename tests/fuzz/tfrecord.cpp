// TFRecord files, compressed or not: a record that can be read can be read again from its position.
// The checksums would stop nearly all inputs, so records of any bytes are also written and read.
#include "troupe/serialization/records/tfrecord.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/support/simulated_disk.hpp"

namespace troupe::fuzz::tfrecord {
namespace {

std::vector<std::string> read_all(file_system& disk, const std::string& path,
                                  const tfrecord_options& options) {
  std::vector<std::string> records;
  auto reader = open_tfrecord(disk, path, options);
  if (!reader)
    return records;
  for (std::string record;;) {
    auto position = (*reader)->position();
    auto has_record = (*reader)->next(record);
    if (!has_record || !*has_record)
      return records;
    records.push_back(record);
    fuzz::require((*reader)->seek(position).ok());
    fuzz::require(*(*reader)->next(record) && record == records.back());
  }
}

} // namespace

FUZZ_TARGET(tfrecord) {
  std::string_view input{reinterpret_cast<const char*>(data), size};
  test::simulated_disk disk{1};
  disk.put("x", input);
  for (auto kind : {compression::none, compression::automatic, compression::zlib})
    (void)read_all(disk, "x", {.kind = kind, .max_record_bytes = 1 << 20});
  // The input as records, each as long as its first byte.
  auto kind = size % 2 == 0 ? compression::gzip : compression::none;
  auto writer = tfrecord_writer::create(disk, "y", kind);
  std::vector<std::string> records;
  while (!input.empty()) {
    auto length = static_cast<uint8_t>(input.front());
    records.emplace_back(input.substr(1, length));
    input.remove_prefix(std::min<size_t>(input.size(), size_t{1} + length));
    fuzz::require(writer->add(records.back()).ok());
    if (records.size() == 16)
      break;
  }
  fuzz::require(writer->finish().ok());
  fuzz::require(read_all(disk, "y", {.kind = kind}) == records);
  return 0;
}

} // namespace troupe::fuzz::tfrecord
