// A task's statistics: accepted statistics can be written again, and drawn.
#include "troupe/serialization/reports/statistics.hpp"

#include "tests/fuzz/fuzz.hpp"
#include "troupe/serialization/reports/trace.hpp"
#include "troupe/serialization/wire/payload.hpp"

namespace troupe::fuzz::statistics {

FUZZ_TARGET(statistics) {
  auto read = read_statistics(fuzz::bytes(data, size));
  if (!read)
    return 0;
  auto written = write_statistics(*read);
  fuzz::require(written.ok());
  auto copy = read_statistics(bytes_of(*written));
  fuzz::require(copy.ok() && copy->spans == read->spans && *copy->subjects == *read->subjects);
  step_statistics step;
  step.tasks.push_back(*std::move(copy));
  fuzz::require(!trace_json(std::span{&step, 1}).empty());
  return 0;
}

} // namespace troupe::fuzz::statistics
