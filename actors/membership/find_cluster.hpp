// Makes an address source of the text that names a cluster.
#pragma once
#include "troupe/serialization/discovery/address_source.hpp"

#include <optional>

namespace troupe {

struct find_options {
  /// The environment from which dns:, slurm: and kubernetes: take hosts and numbers.
  environment variables = process_environment();
};

/// Understands the texts of make_address_source(), and in addition
/// - "join:host:port,...": addresses of seeds,
/// - "etcd:http://host:port/prefix": a source in etcd, and
/// - "master:host:port,...", for sessions only: addresses of tasks that host a session.
///
/// Reads a source for the first time, which blocks for at most two seconds.
result<cluster_access> find_cluster(std::string_view text, const find_options& options = {});

/// Fails for "master:", which only sessions understand.
status check_names_tasks(const cluster_access& cluster);

/// Returns the task that this process is: from `number` if given, else from the environment (host
/// names, Slurm, Kubernetes). The number is -1 if the cluster assigns it. An empty job means
/// "worker".
result<task_name> own_task(const cluster_access& cluster, const std::string& job,
                           std::optional<int> number);

} // namespace troupe
