#include "troupe/serialization/discovery/address_source.hpp"

#include "troupe/serialization/config/address_text.hpp"
#include "troupe/serialization/discovery/sources.hpp"

#include <algorithm>
#include <cstdlib>

namespace troupe {
namespace {

class static_source final : public address_source {
public:
  explicit static_source(const cluster_spec& cluster) : addresses_(cluster) {}
  result<task_addresses> read() override { return addresses_; }
  std::string name() const override { return "the cluster spec"; }

private:
  task_addresses addresses_;
};

} // namespace

task_addresses::task_addresses(const cluster_spec& spec) : cluster(spec.name) {
  for (const auto& [job, addresses] : spec.jobs)
    for (size_t i = 0; i < addresses.size(); ++i)
      tasks.emplace(task_name{job, static_cast<int>(i)}, addresses[i]);
}

result<std::string> address_of(const task_addresses& cluster, const task_name& task) {
  if (auto entry = cluster.tasks.find(task); entry != cluster.tasks.end())
    return entry->second;
  constexpr size_t max_named = 16;
  std::string known_tasks;
  size_t named_count = 0;
  for (const auto& [other, address] : cluster.tasks) {
    if (++named_count > max_named) {
      known_tasks += concat(" and ", cluster.tasks.size() - max_named, " more");
      break;
    }
    known_tasks += concat(known_tasks.empty() ? "" : ", ", other);
  }
  return failure(error_kind::not_found, "the cluster has no task ", task, ", ",
                 known_tasks.empty() ? "and no other" : concat("only ", known_tasks));
}

environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const auto* value = std::getenv(name.c_str());
    return value ? std::optional<std::string>{value} : std::nullopt;
  };
}

result<std::shared_ptr<address_source>> make_address_source(std::string_view text,
                                                            const environment& variables) {
  using source_ptr = std::shared_ptr<address_source>;
  auto first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos)
    return invalid("the description of the cluster's addresses is empty");
  if (text[first] == '{') {
    TROUPE_ASSIGN(auto cluster, parse_cluster(text));
    return source_ptr{std::make_shared<static_source>(cluster)};
  }
  // "slurm" is short for "slurm:".
  auto arguments_of = [&](std::string_view scheme) -> std::optional<std::string_view> {
    if (text == scheme)
      return std::string_view{};
    if (text.starts_with(scheme) && text[scheme.size()] == ':')
      return text.substr(scheme.size() + 1);
    return {};
  };
  if (auto arguments = arguments_of("dns"))
    return make_dns_source(*arguments, variables);
  if (auto arguments = arguments_of("slurm"))
    return make_slurm_source(*arguments, variables);
  if (auto arguments = arguments_of("kubernetes"))
    return make_kubernetes_source(*arguments, variables);
  if (auto arguments = arguments_of("file"))
    return source_ptr{make_file_source(std::string{*arguments}, false)};
  // A text without a known prefix is a path. Reading the file reports mistyped texts.
  auto file = make_file_source(std::string{text}, true);
  TROUPE_TRY(file->read());
  return source_ptr{std::move(file)};
}

result<std::vector<std::string>> parse_seeds(std::string_view text, std::string_view option) {
  constexpr size_t max_seeds = 16;
  std::vector<std::string> addresses;
  for (;;) {
    auto comma = text.find(',');
    auto address = text.substr(0, comma);
    if (!is_address(address))
      return invalid(option, ": '", address.substr(0, 200), "' is not an address; write host:port");
    if (std::ranges::find(addresses, address) != addresses.end())
      return invalid(option, ": ", address, " is listed twice");
    if (addresses.size() == max_seeds)
      return invalid(option, ": there are more than ", max_seeds, " addresses");
    addresses.emplace_back(address);
    if (comma == text.npos)
      return addresses;
    text.remove_prefix(comma + 1);
  }
}

result<cluster_access> read_initial_addresses(std::shared_ptr<address_source> source) {
  cluster_access access;
  access.source = std::move(source);
  auto addresses = access.source->read();
  if (addresses)
    access.known = *std::move(addresses);
  else if (!access.polls_source() || addresses.status().kind() == error_kind::invalid_argument)
    return addresses.status();
  return access;
}

} // namespace troupe
