// Tasks of a cluster, each a process of its own on this machine.
#pragma once
#include "troupe/serialization/tls/tls_files.hpp"

#include <string>
#include <vector>

#include <sys/types.h>

namespace troupe::bench {

/// Medium of large tensors between processes.
enum class medium_kind { peer_memory, socket, tls };

/// Runs the tasks /job:worker/task:0 to count - 1 until the object is destroyed.
class task_processes {
public:
  explicit task_processes(medium_kind medium = medium_kind::peer_memory, int count = 2);
  /// Starts only worker 0; other tasks can join it (start).
  static task_processes joinable();
  ~task_processes();
  task_processes(const task_processes&) = delete;
  task_processes& operator=(const task_processes&) = delete;

  void kill(size_t task);
  /// Starts the process of a task that was killed, or of one more. Does not wait for it.
  void start(size_t task);

  const std::string& cluster() const { return cluster_; }
  tls_files client_files() const; ///< empty without TLS
  /// Peak memory of the process of a task, in bytes.
  double peak_memory(size_t task) const;
  /// Processor time of the process of a task so far, in seconds.
  double processor_seconds(size_t task) const;

private:
  struct joined {};
  explicit task_processes(joined);

  medium_kind medium_ = medium_kind::peer_memory;
  std::string cluster_;
  std::string folder_; // of certificates
  std::vector<pid_t> processes_;
};

/// Names of the files in a folder: NAME.pem, NAME.key, authority.pem.
tls_files files_in(const std::string& folder, const std::string& name);

} // namespace troupe::bench
