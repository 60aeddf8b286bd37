// Two tasks of a cluster, or more, each a process of its own on this machine.
#pragma once
#include <string>
#include <vector>

#include <sys/types.h>

namespace troupe::bench {

/// For as long as the object lives: workers 0 and 1, and so on.
class two_tasks {
public:
  explicit two_tasks(bool near_memory = true, int count = 2);
  ~two_tasks();
  two_tasks(const two_tasks&) = delete;
  two_tasks& operator=(const two_tasks&) = delete;

  const std::string& cluster() const { return cluster_; }
  /// The most memory that the process of a task ever had, in bytes.
  double peak_memory(size_t task) const;

private:
  std::string cluster_;
  std::vector<pid_t> processes_;
};

} // namespace troupe::bench
