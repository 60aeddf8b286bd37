#include "troupe/actors/find_cluster.hpp"

namespace troupe {

result<cluster_access> find_cluster(std::string_view text) {
  TROUPE_ASSIGN(auto source, make_address_source(text, process_environment()));
  return first_look(std::move(source));
}

} // namespace troupe
