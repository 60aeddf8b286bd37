// Cluster specs: what is taken comes back as it was.
#include "troupe/serialization/config/cluster.hpp"

#include "tests/fuzz/fuzz.hpp"

namespace troupe::fuzz::cluster {

FUZZ_TARGET(cluster) {
  auto spec = parse_cluster({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!spec)
    return 0;
  auto again = parse_cluster(to_json(*spec));
  fuzz::require(again.ok() && again->jobs == spec->jobs);
  return 0;
}

} // namespace troupe::fuzz::cluster
