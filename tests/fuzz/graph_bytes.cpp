// Written graphs: accepted graphs can be written again. The checksum is corrected first, because it
// would stop all other input.
#include "tests/fuzz/fuzz.hpp"
#include "troupe/serialization/wire/frame.hpp"
#include "troupe/serialization/wire/payload.hpp"
#include "troupe/serialization/wire/wire.hpp"

#include <cstring>
#include <vector>

namespace troupe::fuzz::graph_bytes {

FUZZ_TARGET(graph_bytes) {
  std::vector<std::byte> bytes(reinterpret_cast<const std::byte*>(data),
                               reinterpret_cast<const std::byte*>(data) + size);
  if (bytes.size() >= 32) {
    auto checksum = checksum_of(std::span{bytes}.subspan(32));
    std::memcpy(bytes.data() + 16, &checksum, 8);
  }
  graph nodes{fuzz::all_ops()};
  if (!read_graph(bytes, nodes).ok())
    return 0;
  auto written = write_graph(nodes);
  fuzz::require(written.ok());
  graph copy{fuzz::all_ops()};
  fuzz::require(read_graph(bytes_of(*written), copy).ok());
  fuzz::require(copy.nodes().size() == nodes.nodes().size());
  return 0;
}

} // namespace troupe::fuzz::graph_bytes
