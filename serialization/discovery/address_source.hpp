// Where the addresses of a cluster's tasks come from: a text, a file, the environment, a service.
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

/// What is known of a cluster at one time. Numbers of tasks may be missing.
struct task_addresses {
  task_addresses() = default;
  task_addresses(const cluster_spec& cluster);
  bool operator==(const task_addresses&) const = default;

  std::map<task_name, std::string> tasks; ///< "host:port"
  std::string cluster;                    ///< its name, as in cluster_spec
};

/// Fails with not_found, naming the tasks there are.
result<std::string> address_of(const task_addresses& cluster, const task_name& task);

/// What keeps a task known in a source; its end takes it out, within two seconds.
class announcement {
public:
  virtual ~announcement() = default;
  virtual const number_grant& granted() const = 0;
};

struct announce_options {
  number_claim what; ///< with the number -1, one is given
  std::chrono::milliseconds patience{300'000};
  std::function<bool()> give_up = {}; ///< asked five times a second: is it not wanted any more?
  /// Told once, on any thread, where another process has got the number: end this one.
  std::function<void(const status&)> on_lost = {};
};

/// Where addresses come from. What it says may change, where `read_again` is not 0.
class address_source {
public:
  virtual ~address_source() = default;
  /// Says what it knows now; may block its thread for two seconds, and is called by one at a time.
  /// Fails with invalid_argument where it says nothing that can be understood, and with not_found
  /// or unavailable where it says nothing yet, or any more.
  virtual result<task_addresses> read() = 0;
  /// How long what it has said holds at least; 0: for ever.
  virtual std::chrono::milliseconds read_again() const { return std::chrono::milliseconds{0}; }
  /// Whether all jobs that the cluster will have are among what it says: then only tasks of these
  /// may come.
  virtual bool jobs_are_final() const { return read_again().count() == 0; }
  /// Which task of `job` (empty: of any) this process is, where the environment says so.
  virtual result<std::optional<task_name>> self(const std::string& job) const {
    (void)job;
    return std::optional<task_name>{};
  }
  /// Whether tasks are known in it because they say so themselves.
  virtual bool takes_announcements() const { return false; }
  /// Says that this process is that task. Blocks until it is said, or it cannot be. On any thread.
  virtual result<std::unique_ptr<announcement>> announce(announce_options what) {
    return failure(error_kind::unimplemented, name(), " is not told of ", what.what.job);
  }
  /// "the file /etc/cluster.json", for errors.
  virtual std::string name() const = 0;
};

/// Values of the environment by name; tests have their own.
using environment = std::function<std::optional<std::string>(const std::string&)>;
environment process_environment();

/// Makes a source of a text:
///
///     {"worker": ["10.0.0.1:7001", ...]}     these addresses
///     PATH                                   a file with such text, read again when it changes;
///                                            its jobs stay the same
///     file:PATH                              the same, which need not be there yet, nor name all
///                                            jobs
///     dns:worker*4=worker-{index}.train:7000,ps*1=...   names that are resolved at each call
///     slurm:ps*2,worker*6,port=7000          the environment of a Slurm step (docs/clusters.md)
///     kubernetes:worker*4,service=train,port=7000       that of an indexed Job of Kubernetes
///
/// Fails with invalid_argument, saying what was expected.
result<std::shared_ptr<address_source>> make_address_source(std::string_view text,
                                                            const environment& from);

/// How a process finds the tasks of its cluster: what is known at first, and who may know more.
struct cluster_access {
  cluster_access() = default;
  cluster_access(const cluster_spec& cluster) : known(cluster) {}
  task_addresses known;
  std::shared_ptr<address_source> source = {}; ///< none: nothing changes
  /// Addresses of tasks of a cluster that is joined: whoever reaches one learns the rest. The task
  /// at the first gives out numbers (docs/clusters.md).
  std::vector<std::string> seeds = {};
  /// Addresses of tasks that host sessions: a client's is at the first that takes it, and it knows
  /// nothing else of the cluster.
  std::vector<std::string> hosts = {};
  bool reads_again() const { return source && source->read_again().count() > 0; }
  bool may_change() const { return reads_again() || !seeds.empty(); }
  bool jobs_are_final() const {
    return seeds.empty() && hosts.empty() && (!source || source->jobs_are_final());
  }
};

/// Reads the addresses of a cluster to join, or of tasks that host sessions:
/// "10.0.0.1:7000,10.0.0.2:7000", at most 16. `of` is for errors: "join".
result<std::vector<std::string>> parse_seeds(std::string_view text, std::string_view of = "join");

/// Reads a source for the first time. One that may change need not say anything yet.
result<cluster_access> first_look(std::shared_ptr<address_source> source);

} // namespace troupe
