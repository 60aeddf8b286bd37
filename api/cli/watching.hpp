// What `troupe top`, `waits` and `drain` have in common: which cluster, and how it is asked.
#pragma once
#include "troupe/actors/operator/observer.hpp"
#include "troupe/api/cli/security_options.hpp"

#include <string>

namespace CLI {
class App;
}

namespace troupe::cli {

struct watched_cluster {
  std::string cluster; ///< a file, or the text itself
  double timeout = 3;  ///< seconds
  security_options security = {};

  void add_to(CLI::App& command);
  std::unique_ptr<observer> connect() const;
  std::chrono::milliseconds patience() const;
};

/// Looks at all tasks, 4 deep; throws where it cannot.
inspection look_at(observer& at, std::chrono::milliseconds patience, const char* kinds);

} // namespace troupe::cli
