// Cluster specs: an accepted spec is the same after writing and reading.
#include "troupe/serialization/config/cluster.hpp"

#include "tests/fuzz/fuzz.hpp"

namespace troupe::fuzz::cluster {

FUZZ_TARGET(cluster) {
  auto spec = parse_cluster({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!spec)
    return 0;
  auto copy = parse_cluster(to_json(*spec));
  fuzz::require(copy.ok() && copy->jobs == spec->jobs);
  return 0;
}

} // namespace troupe::fuzz::cluster
