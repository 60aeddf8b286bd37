// A static cluster spec: the tasks of each job and their addresses.
#pragma once
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/runtime/export.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Addresses ("host:port") by job, in the order of task numbers.
struct cluster_spec {
  std::map<std::string, std::vector<std::string>> jobs;
  std::string name = {}; ///< processes of clusters with different names reject each other
};

/// Reads JSON such as {"worker": ["127.0.0.1:7001", "127.0.0.1:7002"], "ps": ["127.0.0.1:7000"]},
/// or the same under the key "cluster", beside which "cluster_name" may name the cluster. Errors
/// name the key, and `origin`, the name of the file.
TROUPE_API result<cluster_spec> parse_cluster(std::string_view json,
                                              std::string_view origin = "cluster");
TROUPE_API result<cluster_spec> read_cluster_file(const std::string& path);
TROUPE_API std::string to_json(const cluster_spec& cluster);

TROUPE_API std::vector<task_name> tasks_of(const cluster_spec& cluster);
/// Fails with not_found, naming the tasks of the cluster.
TROUPE_API result<std::string> address_of(const cluster_spec& cluster, const task_name& task);

} // namespace troupe
