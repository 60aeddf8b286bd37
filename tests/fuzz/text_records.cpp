// Lines, records of CSV and of one length: they do not depend on where reading begins.
#include "troupe/serialization/records/text_records.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/support/simulated_disk.hpp"
#include "troupe/serialization/records/fixed_records.hpp"

namespace troupe::fuzz::text_records {
namespace {

void check(result<std::unique_ptr<record_reader>> reader, file_system& disk, const auto& open) {
  std::string one, again;
  for (int count = 0; reader && count < 64; ++count) {
    auto position = (*reader)->position();
    auto there = (*reader)->next(one);
    auto other = open(disk);
    fuzz::require(other.ok() && (*other)->seek(position).ok());
    auto same = (*other)->next(again);
    fuzz::require(there.ok() == same.ok());
    if (!there) {
      fuzz::require(there.status().message() == same.status().message());
      return;
    }
    fuzz::require(*there == *same && one == again);
    if (!*there)
      return;
  }
}

} // namespace

FUZZ_TARGET(text_records) {
  test::simulated_disk disk{1};
  disk.put("x", {reinterpret_cast<const char*>(data), size});
  text_options options{.kind = compression::automatic, .most_bytes = 1000};
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
