// Inspections as JSON from other tasks: an accepted one is the same after writing and reading.
#include "troupe/serialization/reports/inspection_json.hpp"

#include "tests/fuzz/fuzz.hpp"

namespace troupe::fuzz::inspection_fuzz {

FUZZ_TARGET(inspection) {
  auto tree = parse_inspection({reinterpret_cast<const char*>(data), size});
  if (!tree)
    return 0;
  auto text = to_json(*tree);
  auto copy = parse_inspection(text);
  fuzz::require(copy.ok() && to_json(*copy) == text);
  return 0;
}

} // namespace troupe::fuzz::inspection_fuzz
