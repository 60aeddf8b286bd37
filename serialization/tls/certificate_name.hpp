// The names in a certificate: tasks or a client of a cluster, as a URI among the alternative names.
#pragma once
#include "troupe/runtime/device/device_name.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// troupe://CLUSTER/job:worker/task:0 names a task, troupe://CLUSTER/job:worker all tasks of a job,
/// and troupe://CLUSTER/client:alice a client. CLUSTER is the cluster's name, which may be empty.
/// Characters other than letters, digits, '-', '.', '_' and '~' are written as %XX, also in the
/// name of a client.
struct certificate_name {
  std::string cluster;
  std::string job;         ///< of tasks
  std::optional<int> task; ///< none: all tasks of the job
  std::string client;      ///< if it names no task

  static certificate_name of_task(std::string cluster, const task_name& task);
  static certificate_name of_job(std::string cluster, std::string job);
  static certificate_name of_client(std::string cluster, std::string client);
  static result<certificate_name> parse(std::string_view uri);

  bool is_client() const noexcept { return job.empty(); }
  bool covers(const task_name& named_task) const noexcept;
  bool operator==(const certificate_name&) const = default;
};

std::string to_string(const certificate_name& name);
std::ostream& operator<<(std::ostream& out, const certificate_name& name);

/// Returns whether one of the names covers that task of that cluster.
bool covers(const std::vector<certificate_name>& names, const std::string& cluster,
            const task_name& named_task);
/// Formats names: "troupe:///job:worker/task:0, troupe:///client:alice"
std::string format_names(const std::vector<certificate_name>& names);

} // namespace troupe
