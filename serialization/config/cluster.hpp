// A static cluster spec: which tasks there are, and where they listen.
#pragma once
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/runtime/export.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Addresses ("host:port") by job, in the order of the tasks.
struct cluster_spec {
  std::map<std::string, std::vector<std::string>> jobs;
  std::string name = {}; ///< processes of clusters with different names do not talk
};

/// Reads JSON such as {"worker": ["127.0.0.1:7001", "127.0.0.1:7002"], "ps": ["127.0.0.1:7000"]},
/// or the same under the key "cluster"; beside it, "cluster_name" may name the cluster. Errors name
/// the key; `origin` is the file's name, for them.
TROUPE_API result<cluster_spec> parse_cluster(std::string_view json,
                                              std::string_view origin = "cluster");
TROUPE_API result<cluster_spec> read_cluster_file(const std::string& path);
TROUPE_API std::string to_json(const cluster_spec& cluster);

TROUPE_API std::vector<task_name> tasks_of(const cluster_spec& cluster);
/// Fails with not_found, naming the jobs there are.
TROUPE_API result<std::string> address_of(const cluster_spec& cluster, const task_name& task);

} // namespace troupe
