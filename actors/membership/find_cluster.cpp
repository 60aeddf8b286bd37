#include "troupe/actors/membership/find_cluster.hpp"

#include "troupe/actors/membership/etcd_source.hpp"

namespace troupe {

result<cluster_access> find_cluster(std::string_view text, const find_options& options) {
  constexpr std::string_view join = "join:";
  if (text.starts_with(join)) {
    cluster_access access;
    TROUPE_ASSIGN(access.seeds, parse_seeds(text.substr(join.size())));
    return access;
  }
  constexpr std::string_view master = "master:";
  if (text.starts_with(master)) {
    cluster_access access;
    TROUPE_ASSIGN(access.session_hosts, parse_seeds(text.substr(master.size()), "master"));
    return access;
  }
  constexpr std::string_view etcd = "etcd:";
  if (text.starts_with(etcd)) {
    TROUPE_ASSIGN(auto source, make_etcd_source(text.substr(etcd.size())));
    return read_initial_addresses(std::move(source));
  }
  TROUPE_ASSIGN(auto source, make_address_source(text, options.variables));
  return read_initial_addresses(std::move(source));
}

status check_names_tasks(const cluster_access& cluster) {
  return cluster.session_hosts.empty()
             ? status{}
             : invalid("master:", cluster.session_hosts.front(),
                       " names tasks that host sessions, not the tasks of a "
                       "cluster");
}

result<task_name> own_task(const cluster_access& cluster, const std::string& job,
                           std::optional<int> number) {
  auto job_or_default = job.empty() ? std::string{"worker"} : job;
  if (number || !cluster.source || cluster.source->takes_announcements())
    return task_name{std::move(job_or_default), number.value_or(-1)};
  TROUPE_ASSIGN(auto self, cluster.source->own_task(job));
  return self ? *std::move(self) : task_name{std::move(job_or_default), 0};
}

} // namespace troupe
