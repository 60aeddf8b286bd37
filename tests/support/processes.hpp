// Clusters on loopback for tests: tasks in this process, or as processes that can be killed.
#pragma once
#include "troupe/actors/operator/task.hpp"
#include "troupe/actors/session/client.hpp"
#include "troupe/serialization/config/cluster.hpp"
#include "troupe/serialization/discovery/address_source.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

namespace troupe::test {

/// Free ports on loopback.
std::vector<uint16_t> free_ports(size_t count);

/// A cluster of that many workers and parameter servers, at free ports.
cluster_spec make_cluster(size_t workers, size_t ps = 0);

/// A task in this process.
std::unique_ptr<task> start_task(const cluster_spec& cluster, const task_name& self,
                                 std::chrono::milliseconds peer_timeout = std::chrono::seconds{10});

/// The options of such a task: this library's ops, a processor with one thread for each op, two
/// threads.
task_options options_of_task(const cluster_access& cluster, const task_name& self);

/// A task in this process with more options.
std::unique_ptr<task> start_task(task_options options);

/// Returns whether the condition becomes true within 30 s; it is polled.
bool becomes_true(const std::function<bool()>& is_true);

/// A client of the cluster, with two threads.
std::unique_ptr<client>
connect_to(const cluster_spec& cluster,
           std::chrono::milliseconds peer_timeout = std::chrono::seconds{10},
           const std::string& container = {}, const program_options& programs = {});

/// A task in a process of its own. Its destructor kills it.
class task_process {
public:
  task_process(const cluster_spec& cluster, const task_name& self,
               std::chrono::milliseconds peer_timeout = std::chrono::seconds{10});
  /// A task that joins a cluster by these addresses, and listens there; the number -1 stands for
  /// any. Its timeouts in elections are shorter than the defaults.
  task_process(const std::string& seeds, const task_name& self, const std::string& listen,
               std::chrono::milliseconds peer_timeout = std::chrono::seconds{2});
  task_process(task_process&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
  task_process& operator=(task_process&&) = delete;
  ~task_process();

  void kill();   ///< as the kernel does when memory is short
  void freeze(); ///< the task neither answers nor closes its connections any more
  /// Sends SIGTERM; returns the exit code, or -1 if the task has not ended within the time.
  int terminate(std::chrono::milliseconds timeout);
  pid_t pid() const noexcept { return pid_; }

private:
  void start(const task_name& self, std::vector<std::string> arguments);
  pid_t pid_ = 0;
};

/// The resources that a process uses now.
struct footprint {
  int64_t resident_kib = 0;
  int threads = 0, descriptors = 0;
};
footprint footprint_of(pid_t process);

/// Sanitizers keep freed memory for a while, so that a process's size shows little.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool size_is_telling = false;
#else
inline constexpr bool size_is_telling = true;
#endif

} // namespace troupe::test
