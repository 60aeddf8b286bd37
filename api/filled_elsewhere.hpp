// What session::fill throws where another session fills a task.
#pragma once
#include "troupe/api/error.hpp"

#include <memory>
#include <set>
#include <string>

namespace troupe {

/// The error of a run that a task has refused, since another session fills it (`unavailable`): who
/// tries again finds there what the other one has put there, unless that gives up.
class TROUPE_API filled_elsewhere : public error {
public:
  filled_elsewhere(const error& why, const std::set<std::string>& tasks)
      : error(why), tasks_(std::make_shared<std::set<std::string>>(tasks)) {}
  /// "/job:ps/task:0".
  const std::set<std::string>& tasks() const noexcept { return *tasks_; }

private:
  std::shared_ptr<const std::set<std::string>> tasks_; // exceptions are copied without failing
};

} // namespace troupe
