#include "troupe/actors/encode_graphs.hpp"

#include "troupe/serialization/wire/wire.hpp"

namespace troupe {

result<wire_registration> encode_graphs(const register_partitions& what) {
  auto made = std::make_shared<register_graph>();
  made->session = what.session;
  made->container = what.container;
  made->region_per_node = what.region_per_node;
  made->deterministic = what.deterministic;
  made->costs = what.costs;
  made->replay = what.replay;
  for (const auto& part : what.partitions) {
    TROUPE_ASSIGN(auto bytes, write_graph(*part.nodes));
    made->partitions.push_back({to_string(part.device), std::move(bytes)});
  }
  return wire_registration{std::move(made)};
}

} // namespace troupe
