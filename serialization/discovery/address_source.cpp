#include "troupe/serialization/discovery/address_source.hpp"

#include "troupe/serialization/config/address_text.hpp"
#include "troupe/serialization/discovery/sources.hpp"

#include <algorithm>
#include <cstdlib>

namespace troupe {
namespace {

class static_source final : public address_source {
public:
  explicit static_source(const cluster_spec& cluster) : says_(cluster) {}
  result<task_addresses> read() override { return says_; }
  std::string name() const override { return "the cluster spec"; }

private:
  task_addresses says_;
};

} // namespace

task_addresses::task_addresses(const cluster_spec& from) : cluster(from.name) {
  for (const auto& [job, addresses] : from.jobs)
    for (size_t i = 0; i < addresses.size(); ++i)
      tasks.emplace(task_name{job, static_cast<int>(i)}, addresses[i]);
}

result<std::string> address_of(const task_addresses& cluster, const task_name& task) {
  if (auto it = cluster.tasks.find(task); it != cluster.tasks.end())
    return it->second;
  constexpr size_t most_named = 16;
  std::string known;
  size_t named = 0;
  for (const auto& [other, address] : cluster.tasks) {
    if (++named > most_named) {
      known += concat(" and ", cluster.tasks.size() - most_named, " more");
      break;
    }
    known += concat(known.empty() ? "" : ", ", other);
  }
  return failure(error_kind::not_found, "the cluster has no task ", task, ", ",
                 known.empty() ? "and no other" : concat("only ", known));
}

environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const auto* value = std::getenv(name.c_str());
    return value ? std::optional<std::string>{value} : std::nullopt;
  };
}

result<std::shared_ptr<address_source>> make_address_source(std::string_view text,
                                                            const environment& from) {
  using made = std::shared_ptr<address_source>;
  auto first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos)
    return invalid("the text that says where the cluster's tasks are is empty");
  if (text[first] == '{') {
    TROUPE_ASSIGN(auto cluster, parse_cluster(text));
    return made{std::make_shared<static_source>(cluster)};
  }
  // "slurm" stands for "slurm:".
  auto rest_of = [&](std::string_view scheme) -> std::optional<std::string_view> {
    if (text == scheme)
      return std::string_view{};
    if (text.starts_with(scheme) && text[scheme.size()] == ':')
      return text.substr(scheme.size() + 1);
    return {};
  };
  if (auto rest = rest_of("dns"))
    return make_dns_source(*rest, from);
  if (auto rest = rest_of("slurm"))
    return make_slurm_source(*rest, from);
  if (auto rest = rest_of("kubernetes"))
    return make_kubernetes_source(*rest, from);
  if (auto rest = rest_of("file"))
    return made{make_file_source(std::string{*rest}, false)};
  // A name that nothing else explains may be a mistake.
  auto file = make_file_source(std::string{text}, true);
  TROUPE_TRY(file->read());
  return made{std::move(file)};
}

result<std::vector<std::string>> parse_seeds(std::string_view text, std::string_view of) {
  constexpr size_t max_seeds = 16;
  std::vector<std::string> made;
  for (;;) {
    auto comma = text.find(',');
    auto one = text.substr(0, comma);
    if (!is_address(one))
      return invalid(of, ": '", one.substr(0, 200), "' is no address; write host:port");
    if (std::ranges::find(made, one) != made.end())
      return invalid(of, ": ", one, " stands twice");
    if (made.size() == max_seeds)
      return invalid(of, ": there are more than ", max_seeds, " addresses");
    made.emplace_back(one);
    if (comma == text.npos)
      return made;
    text.remove_prefix(comma + 1);
  }
}

result<cluster_access> first_look(std::shared_ptr<address_source> source) {
  cluster_access made;
  made.source = std::move(source);
  auto says = made.source->read();
  if (says)
    made.known = *std::move(says);
  else if (!made.reads_again() || says.status().kind() == error_kind::invalid_argument)
    return says.status();
  return made;
}

} // namespace troupe
