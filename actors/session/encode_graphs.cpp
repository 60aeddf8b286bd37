#include "troupe/actors/session/encode_graphs.hpp"

#include "troupe/serialization/wire/wire.hpp"

namespace troupe {

result<wire_registration> encode_graphs(const register_partitions& registration) {
  auto encoded = std::make_shared<register_graph>();
  encoded->settings = registration.settings;
  for (const auto& part : registration.partitions) {
    TROUPE_ASSIGN(auto bytes, write_graph(*part.nodes));
    encoded->partitions.push_back(
        {to_string(part.device), std::move(bytes), part.frame, part.function, part.of_node});
  }
  return wire_registration{std::move(encoded)};
}

} // namespace troupe
