// A source of a fixed list of host names, from a text or the environment. The list does not change,
// but the names may resolve to other hosts later.
#pragma once
#include "troupe/serialization/discovery/address_source.hpp"

#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// A fixed list of addresses, and the tasks of it that this process may be.
class listed_source final : public address_source {
public:
  listed_source(task_addresses addresses, std::vector<task_name> own_tasks, std::string name)
      : addresses_(std::move(addresses)), own_tasks_(std::move(own_tasks)), name_(std::move(name)) {
  }
  listed_source(task_addresses addresses, const std::optional<task_name>& self, std::string name)
      : listed_source(std::move(addresses), self ? std::vector{*self} : std::vector<task_name>{},
                      std::move(name)) {}

  result<task_addresses> read() override { return addresses_; }
  /// Fails with invalid_argument, naming the tasks, if several tasks of the job are on this host.
  /// Then only the user can say which of them this process is.
  result<std::optional<task_name>> own_task(const std::string& job) const override;
  std::string name() const override { return name_; }

private:
  task_addresses addresses_;
  std::vector<task_name> own_tasks_;
  std::string name_;
};

} // namespace troupe
