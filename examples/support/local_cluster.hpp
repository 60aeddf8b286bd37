// A cluster of processes on this machine, for the lifetime of the object.
#pragma once
#include "troupe/troupe.hpp"

#include <sys/types.h>

#include <string>
#include <vector>

namespace examples {

/// Starts `troupe worker` for each task, on free loopback ports. The destructor ends all tasks,
/// within a few seconds. They also end if this process dies.
class local_cluster {
public:
  /// Throws std::runtime_error if the `troupe` command is not in the folder of this program.
  local_cluster(int workers, int parameter_servers);
  local_cluster(const local_cluster&) = delete;
  local_cluster& operator=(const local_cluster&) = delete;
  ~local_cluster();

  const std::string& spec() const { return spec_; } ///< as JSON text, for session::connect

private:
  void start(const std::string& command, const std::string& job, int task);
  void stop();

  std::string spec_;
  std::vector<pid_t> processes_;
};

} // namespace examples
