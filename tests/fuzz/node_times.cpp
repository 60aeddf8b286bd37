// Node times: accepted times are the same after writing and reading.
#include "troupe/serialization/reports/node_times_file.hpp"

#include "tests/fuzz/fuzz.hpp"

namespace troupe::fuzz::node_times {

FUZZ_TARGET(node_times) {
  auto times = parse_node_times({reinterpret_cast<const char*>(data), size});
  if (!times)
    return 0;
  auto copy = parse_node_times(node_times_json(*times));
  fuzz::require(copy.ok() && copy->size() == times->size());
  for (size_t i = 0; i < times->size(); ++i)
    fuzz::require((*copy)[i].node == (*times)[i].node && (*copy)[i].runs == (*times)[i].runs);
  return 0;
}

} // namespace troupe::fuzz::node_times
