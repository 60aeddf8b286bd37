// What a text and the environment say about a cluster: it does not change, but names of hosts may
// come to mean others.
#pragma once
#include "troupe/serialization/discovery/address_source.hpp"

#include <optional>
#include <string>

namespace troupe {

/// A list of addresses that an environment gives, and which of them is this process.
class listed_source final : public address_source {
public:
  listed_source(task_addresses says, std::optional<task_name> self, std::string name)
      : says_(std::move(says)), self_(std::move(self)), name_(std::move(name)) {}

  result<task_addresses> read() override { return says_; }
  result<std::optional<task_name>> self(const std::string& job) const override {
    if (self_ && !job.empty() && self_->job != job)
      return invalid(name_, " says that this process is ", *self_, ", and --job that it is of '",
                     job, "'");
    return self_;
  }
  std::string name() const override { return name_; }

private:
  task_addresses says_;
  std::optional<task_name> self_;
  std::string name_;
};

} // namespace troupe
