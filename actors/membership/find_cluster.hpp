// From the text that says where a cluster's tasks are to what finds them.
#pragma once
#include "troupe/serialization/discovery/address_source.hpp"

#include <optional>

namespace troupe {

/// Understands what make_address_source() does, and reads it for the first time; and
/// "join:host:port,...", addresses of tasks that know the others; and
/// "etcd:http://host:port/prefix"; and, for sessions, "master:host:port,...", addresses of tasks
/// that host one. Blocks for two seconds at most.
result<cluster_access> find_cluster(std::string_view text);

/// Fails for what only sessions understand.
status knows_tasks(const cluster_access& cluster);

/// Which task of a cluster this process is: as it is told, else as the environment says (names of
/// hosts, Slurm, Kubernetes), else one without a number (-1) where the cluster gives it one. Of a
/// job that is not named, "worker".
result<task_name> self_in(const cluster_access& cluster, const std::string& job,
                          std::optional<int> number);

} // namespace troupe
