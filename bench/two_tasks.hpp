// Two tasks of a cluster, or more, each a process of its own on this machine.
#pragma once
#include "troupe/runtime/cluster/tls_files.hpp"

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
  ~two_tasks();
  two_tasks(const two_tasks&) = delete;
  two_tasks& operator=(const two_tasks&) = delete;

  const std::string& cluster() const { return cluster_; }
  tls_files client_files() const; ///< none where they do without
  /// The most memory that the process of a task ever had, in bytes.
  double peak_memory(size_t task) const;

private:
  std::string cluster_;
  std::string folder_; // of certificates
  std::vector<pid_t> processes_;
};

/// Those of a name in a folder, with the authority's: NAME.pem, NAME.key, authority.pem.
tls_files files_in(const std::string& folder, const std::string& name);

} // namespace troupe::bench
