// Sources of the addresses of a cluster's tasks: a text, a file, the environment, a service.
#pragma once
#include "troupe/runtime/cluster/member_list.hpp"
#include "troupe/serialization/config/cluster.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// The known addresses of a cluster at one time. Task numbers may have gaps.
struct task_addresses {
  task_addresses() = default;
  task_addresses(const cluster_spec& cluster);
  bool operator==(const task_addresses&) const = default;

  std::map<task_name, std::string> tasks; ///< "host:port"
  std::string cluster;                    ///< the name, as in cluster_spec
};

/// Fails with not_found, naming the known tasks.
result<std::string> address_of(const task_addresses& cluster, const task_name& task);

/// Keeps a task listed in a source. The destructor removes it, within two seconds.
class announcement {
public:
  virtual ~announcement() = default;
  virtual const number_grant& grant() const = 0;
};

struct announce_options {
  number_claim claim; ///< the number -1 requests any number
  std::chrono::milliseconds timeout{300'000};
  std::function<bool()> is_cancelled = {}; ///< polled five times a second
  /// Called at most once, on any thread, when another process got the number: end this process.
  std::function<void(const status&)> on_lost = {};
};

/// A source of addresses. Its result may change if poll_interval() is not 0.
class address_source {
public:
  virtual ~address_source() = default;
  /// Returns the current addresses. May block its thread for two seconds. Calls must not overlap.
  /// Fails with invalid_argument if the source cannot be parsed, and with not_found or unavailable
  /// if it has no addresses yet, or no longer.
  virtual result<task_addresses> read() = 0;
  /// The time between reads; 0: the result never changes.
  virtual std::chrono::milliseconds poll_interval() const { return std::chrono::milliseconds{0}; }
  /// Registers a function to be called after each change of the result, in place of the former one.
  /// It is called on any thread, and must not block or call the source. Sources that learn of
  /// changes only when they are read ignore it, so the result must be read at times as well.
  virtual void on_change(std::function<void()> changed) { (void)changed; }
  /// Whether the source lists all jobs that the cluster will ever have. Then only tasks of these
  /// jobs may be added.
  virtual bool jobs_are_final() const { return poll_interval().count() == 0; }
  /// The task of `job` (empty: of any job) that this process is, if the environment states it.
  virtual result<std::optional<task_name>> own_task(const std::string& job) const {
    (void)job;
    return std::optional<task_name>{};
  }
  /// Whether tasks are listed because they announce themselves.
  virtual bool takes_announcements() const { return false; }
  /// Lists this process as a task. Blocks until the source has the entry, or fails. On any thread.
  virtual result<std::unique_ptr<announcement>> announce(announce_options options) {
    return failure(error_kind::unimplemented, name(), " takes no announcement of ",
                   options.claim.job);
  }
  /// A description for errors: "the file /etc/cluster.json".
  virtual std::string name() const = 0;
};

/// Looks up environment variables by name; tests pass their own.
using environment = std::function<std::optional<std::string>(const std::string&)>;
environment process_environment();

/// Makes a source from a text:
///
///     {"worker": ["10.0.0.1:7001", ...]}     these addresses
///     PATH                                   a file with such text, read again when it changes;
///                                            its jobs stay the same
///     file:PATH                              the same, but the file may be missing at first, and
///                                            may list more jobs later
///     dns:worker*4=worker-{index}.train:7000,ps*1=...   names that are resolved at each connect
///     slurm:ps*2,worker*6,port=7000          the environment of a Slurm step (docs/clusters.md)
///     kubernetes:worker*4,service=train,port=7000       that of an indexed Job of Kubernetes
///
/// Fails with invalid_argument, naming the expected syntax.
result<std::shared_ptr<address_source>> make_address_source(std::string_view text,
                                                            const environment& variables);

/// How a process finds the tasks of its cluster: the initial addresses, and where to learn more.
struct cluster_access {
  cluster_access() = default;
  cluster_access(const cluster_spec& cluster) : known(cluster) {}
  task_addresses known;
  std::shared_ptr<address_source> source = {}; ///< null: the addresses do not change
  /// Addresses of tasks of a cluster to join. Any reachable one sends the list of members. The task
  /// at the first address assigns numbers (docs/clusters.md).
  std::vector<std::string> seeds = {};
  /// Addresses of tasks that host sessions. A client's session is at the first that accepts it, and
  /// the client knows no other task of the cluster.
  std::vector<std::string> session_hosts = {};
  bool polls_source() const { return source && source->poll_interval().count() > 0; }
  bool may_change() const { return polls_source() || !seeds.empty(); }
  bool jobs_are_final() const {
    return seeds.empty() && session_hosts.empty() && (!source || source->jobs_are_final());
  }
};

/// Parses the addresses of a cluster to join, or of tasks that host sessions:
/// "10.0.0.1:7000,10.0.0.2:7000", at most 16. `option` is a prefix of errors: "join".
result<std::vector<std::string>> parse_seeds(std::string_view text,
                                             std::string_view option = "join");

/// Reads a source for the first time. A source that is polled may have no addresses yet.
result<cluster_access> read_initial_addresses(std::shared_ptr<address_source> source);

} // namespace troupe
