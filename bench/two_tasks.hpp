// Two tasks of a cluster, or more, each a process of its own on this machine.
#pragma once
#include "troupe/serialization/tls/tls_files.hpp"

#include <string>
#include <vector>

#include <sys/types.h>

namespace troupe::bench {

/// How large tensors get from process to process.
enum class carrier { near_memory, socket, tls };

/// For as long as the object lives: workers 0 and 1, and so on.
class two_tasks {
public:
  explicit two_tasks(carrier by = carrier::near_memory, int count = 2);
  /// Worker 0 alone, which others join (start).
  static two_tasks to_be_joined();
  ~two_tasks();
  two_tasks(const two_tasks&) = delete;
  two_tasks& operator=(const two_tasks&) = delete;

  void kill(size_t task);
  /// Starts the process of a task that was killed, or of one more. Does not wait for it.
  void start(size_t task);

  const std::string& cluster() const { return cluster_; }
  tls_files client_files() const; ///< none where they do without
  /// The most memory that the process of a task ever had, in bytes.
  double peak_memory(size_t task) const;
  /// What the process of a task has computed so far, in seconds of a processor.
  double processor_seconds(size_t task) const;

private:
  struct joined {};
  explicit two_tasks(joined);

  carrier by_ = carrier::near_memory;
  std::string cluster_;
  std::string folder_; // of certificates
  std::vector<pid_t> processes_;
};

/// Those of a name in a folder, with the authority's: NAME.pem, NAME.key, authority.pem.
tls_files files_in(const std::string& folder, const std::string& name);

} // namespace troupe::bench
