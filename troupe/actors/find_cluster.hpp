// From the text that says where a cluster's tasks are to what finds them.
#pragma once
#include "troupe/serialization/discovery/address_source.hpp"

namespace troupe {

/// Understands what make_address_source() does, and reads it for the first time; and
/// "join:host:port,...", addresses of tasks that know the others; and
/// "etcd:http://host:port/prefix". Blocks for two seconds at most.
result<cluster_access> find_cluster(std::string_view text);

} // namespace troupe
