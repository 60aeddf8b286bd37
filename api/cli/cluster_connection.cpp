#include "troupe/api/cli/cluster_connection.hpp"
// Connects commands to the tasks of a cluster.

#include "troupe/actors/membership/find_cluster.hpp"
#include "troupe/api/error.hpp"

#include <CLI/CLI.hpp>

namespace troupe::cli {

void cluster_connection::add_to(CLI::App& command) {
  command.add_option("--cluster", cluster, cluster_help)->required();
  command.add_option("--timeout", timeout, "Timeout for the answers of all tasks, in seconds")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  add_security(command, security);
}

std::unique_ptr<observer> cluster_connection::connect() const {
  return value_or_throw(observer::connect(value_or_throw(find_cluster(cluster)),
                                          {.tls = security.tls, .insecure = security.insecure}));
}

std::chrono::milliseconds cluster_connection::answer_timeout() const {
  return std::chrono::milliseconds{static_cast<int64_t>(timeout * 1000)};
}

inspection inspect_tasks(observer& tasks, std::chrono::milliseconds answer_timeout,
                         const char* kinds) {
  return value_or_throw(tasks.inspect({}, {.depth = 4, .kinds = kinds}, answer_timeout));
}

} // namespace troupe::cli
