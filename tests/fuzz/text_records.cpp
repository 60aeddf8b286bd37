// Lines, records of CSV, and records of fixed length do not depend on where reading begins.
#include "troupe/serialization/records/text_records.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/support/simulated_disk.hpp"
#include "troupe/serialization/records/fixed_records.hpp"

namespace troupe::fuzz::text_records {
namespace {

void check(result<std::unique_ptr<record_reader>> reader, file_system& disk, const auto& open) {
  std::string record, repeated;
  for (int count = 0; reader && count < 64; ++count) {
    auto position = (*reader)->position();
    auto has_record = (*reader)->next(record);
    auto second_reader = open(disk);
    fuzz::require(second_reader.ok() && (*second_reader)->seek(position).ok());
    auto has_repeated = (*second_reader)->next(repeated);
    fuzz::require(has_record.ok() == has_repeated.ok());
    if (!has_record) {
      fuzz::require(has_record.status().message() == has_repeated.status().message());
      return;
    }
    fuzz::require(*has_record == *has_repeated && record == repeated);
    if (!*has_record)
      return;
  }
}

} // namespace

FUZZ_TARGET(text_records) {
  test::simulated_disk disk{1};
  disk.put("x", {reinterpret_cast<const char*>(data), size});
  text_options options{.kind = compression::automatic, .max_record_bytes = 1000};
  auto lines = [&](file_system& at) { return open_lines(at, "x", options); };
  auto csv = [&](file_system& at) { return open_csv(at, "x", options); };
  auto fixed = [&](file_system& at) {
    return open_fixed(at, "x", {.record_bytes = 7, .head_bytes = size % 7});
  };
  check(lines(disk), disk, lines);
  check(csv(disk), disk, csv);
  check(fixed(disk), disk, fixed);
  return 0;
}

} // namespace troupe::fuzz::text_records
