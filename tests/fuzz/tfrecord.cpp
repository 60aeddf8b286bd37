// TFRecord files, compressed or not: what is read can be read again from each position. The
// checksums would stop nearly all inputs; also records of any bytes are read as what was written.
#include "troupe/serialization/records/tfrecord.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/support/simulated_disk.hpp"

namespace troupe::fuzz::tfrecord {
namespace {

std::vector<std::string> read_all(file_system& disk, const std::string& path,
                                  const tfrecord_options& options) {
  std::vector<std::string> all;
  auto reader = open_tfrecord(disk, path, options);
  if (!reader)
    return all;
  for (std::string one;;) {
    auto before = (*reader)->position();
    auto there = (*reader)->next(one);
    if (!there || !*there)
      return all;
    all.push_back(one);
    fuzz::require((*reader)->seek(before).ok());
    fuzz::require(*(*reader)->next(one) && one == all.back());
  }
}

} // namespace

FUZZ_TARGET(tfrecord) {
  std::string_view all{reinterpret_cast<const char*>(data), size};
  test::simulated_disk disk{1};
  disk.put("x", all);
  for (auto kind : {compression::none, compression::automatic, compression::zlib})
    (void)read_all(disk, "x", {.kind = kind, .most_bytes = 1 << 20});
  // The input as records: each as long as its first byte says.
  auto kind = size % 2 == 0 ? compression::gzip : compression::none;
  auto writer = tfrecord_writer::create(disk, "y", kind);
  std::vector<std::string> records;
  while (!all.empty()) {
    auto length = static_cast<uint8_t>(all.front());
    records.emplace_back(all.substr(1, length));
    all.remove_prefix(std::min<size_t>(all.size(), size_t{1} + length));
    fuzz::require(writer->add(records.back()).ok());
    if (records.size() == 16)
      break;
  }
  fuzz::require(writer->finish().ok());
  fuzz::require(read_all(disk, "y", {.kind = kind}) == records);
  return 0;
}

} // namespace troupe::fuzz::tfrecord
