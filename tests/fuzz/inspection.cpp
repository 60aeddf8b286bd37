// Inspections as JSON, which other tasks send: what is taken comes back as it was.
#include "troupe/serialization/reports/inspection_json.hpp"

#include "tests/fuzz/fuzz.hpp"

namespace troupe::fuzz::inspection_fuzz {

FUZZ_TARGET(inspection) {
  auto tree = parse_inspection({reinterpret_cast<const char*>(data), size});
  if (!tree)
    return 0;
  auto text = to_json(*tree);
  auto again = parse_inspection(text);
  fuzz::require(again.ok() && to_json(*again) == text);
  return 0;
}

} // namespace troupe::fuzz::inspection_fuzz
