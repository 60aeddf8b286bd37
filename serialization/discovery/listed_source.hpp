// A source of a fixed list of host names, from a text or the environment. The list does not change,
// but the names may resolve to other hosts later.
#pragma once
#include "troupe/serialization/discovery/address_source.hpp"

#include <optional>
#include <string>

namespace troupe {

/// A fixed list of addresses, and the task that this process is.
class listed_source final : public address_source {
public:
  listed_source(task_addresses addresses, std::optional<task_name> self, std::string name)
      : addresses_(std::move(addresses)), self_(std::move(self)), name_(std::move(name)) {}

  result<task_addresses> read() override { return addresses_; }
  result<std::optional<task_name>> own_task(const std::string& job) const override {
    if (self_ && !job.empty() && self_->job != job)
      return invalid(name_, " says that this process is ", *self_, ", and --job that it is of '",
                     job, "'");
    return self_;
  }
  std::string name() const override { return name_; }

private:
  task_addresses addresses_;
  std::optional<task_name> self_;
  std::string name_;
};

} // namespace troupe
