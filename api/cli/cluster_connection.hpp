// Common parts of `troupe top`, `waits` and `drain`: options and connection.
#pragma once
#include "troupe/actors/operator/observer.hpp"
#include "troupe/api/cli/security_options.hpp"

#include <string>

namespace CLI {
class App;
}

namespace troupe::cli {

struct cluster_connection {
  std::string cluster; ///< a file, or the text itself
  double timeout = 3;  ///< seconds
  security_options security = {};

  void add_to(CLI::App& command);
  std::unique_ptr<observer> connect() const;
  std::chrono::milliseconds answer_timeout() const;
};

/// Inspects all tasks, with depth 4. Throws if that fails.
inspection inspect_tasks(observer& tasks, std::chrono::milliseconds answer_timeout,
                         const char* kinds);

} // namespace troupe::cli
