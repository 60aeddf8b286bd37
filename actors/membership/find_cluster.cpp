#include "troupe/actors/membership/find_cluster.hpp"

#include "troupe/actors/membership/etcd_source.hpp"

namespace troupe {

result<cluster_access> find_cluster(std::string_view text) {
  constexpr std::string_view join = "join:";
  if (text.starts_with(join)) {
    cluster_access made;
    TROUPE_ASSIGN(made.seeds, parse_seeds(text.substr(join.size())));
    return made;
  }
  constexpr std::string_view master = "master:";
  if (text.starts_with(master)) {
    cluster_access made;
    TROUPE_ASSIGN(made.hosts, parse_seeds(text.substr(master.size()), "master"));
    return made;
  }
  constexpr std::string_view etcd = "etcd:";
  if (text.starts_with(etcd)) {
    TROUPE_ASSIGN(auto source, make_etcd_source(text.substr(etcd.size())));
    return first_look(std::move(source));
  }
  TROUPE_ASSIGN(auto source, make_address_source(text, process_environment()));
  return first_look(std::move(source));
}

status knows_tasks(const cluster_access& cluster) {
  return cluster.hosts.empty() ? status{}
                               : invalid("master:", cluster.hosts.front(),
                                         " says who hosts a session, and not where the tasks are");
}

result<task_name> self_in(const cluster_access& cluster, const std::string& job,
                          std::optional<int> number) {
  auto named = job.empty() ? std::string{"worker"} : job;
  if (number || !cluster.source || cluster.source->takes_announcements())
    return task_name{std::move(named), number.value_or(-1)};
  TROUPE_ASSIGN(auto said, cluster.source->self(job));
  return said ? *std::move(said) : task_name{std::move(named), 0};
}

} // namespace troupe
