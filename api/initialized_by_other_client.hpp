// The error that session::initialize_tasks throws if another session initializes a task.
#pragma once
#include "troupe/api/error.hpp"

#include <memory>
#include <set>
#include <string>

namespace troupe {

/// The error of a run that a task has refused because another session initializes that task
/// (`unavailable`). A later attempt finds the state that the other session has written, unless that
/// session fails.
class TROUPE_API initialized_by_other_client : public error {
public:
  initialized_by_other_client(const error& cause, const std::set<std::string>& tasks)
      : error(cause), tasks_(std::make_shared<std::set<std::string>>(tasks)) {}
  /// "/job:ps/task:0".
  const std::set<std::string>& tasks() const noexcept { return *tasks_; }

private:
  std::shared_ptr<const std::set<std::string>> tasks_; // exceptions are copied without failing
};

} // namespace troupe
