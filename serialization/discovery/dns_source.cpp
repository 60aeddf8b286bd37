// Sources whose host names follow a pattern: DNS, and the headless services of Kubernetes.
#include "troupe/serialization/discovery/listed_source.hpp"
#include "troupe/serialization/discovery/source_text.hpp"
#include "troupe/serialization/discovery/sources.hpp"

#include <charconv>

namespace troupe {
namespace {

result<task_addresses> expand(const std::vector<job_text>& jobs, std::string_view origin) {
  task_addresses addresses;
  std::map<std::string, task_name> owners;
  for (const auto& job : jobs)
    for (int i = 0; i < job.tasks.value_or(1); ++i) {
      auto address = expand_address(job.pattern, i);
      if (!address)
        return address.status().with_context(std::string{origin.substr(0, origin.size() - 1)});
      task_name task{job.job, i};
      auto [other, is_new] = owners.emplace(*address, task);
      if (!is_new)
        return invalid(origin, ' ', task, " has the address ", *address, " of ", other->second);
      addresses.tasks.emplace(task, *std::move(address));
    }
  return addresses;
}

std::string first_label(const std::string& host) {
  return host.substr(0, host.find_first_of(".:"));
}

// "train-3": "train-", 3.
std::optional<std::pair<std::string, int>> split_ordinal(const std::string& host) {
  auto label = first_label(host);
  auto dash = label.rfind('-');
  int number = 0;
  if (dash == label.npos || dash == 0)
    return {};
  auto digits = std::string_view{label}.substr(dash + 1);
  auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (problem != std::errc{} || end != digits.data() + digits.size() || number < 0)
    return {};
  return std::pair{label.substr(0, dash), number};
}

} // namespace

result<std::shared_ptr<address_source>> make_dns_source(std::string_view text,
                                                        const environment& variables) {
  TROUPE_ASSIGN(auto parsed, parse_source_text(text, "dns:", {}));
  if (parsed.jobs.empty())
    return invalid("dns: needs jobs, such as dns:worker*4=worker-{index}.train:7000");
  TROUPE_ASSIGN(auto addresses, expand(parsed.jobs, "dns:"));
  std::vector<task_name> own_tasks;
  if (auto host = variables("HOSTNAME"))
    for (const auto& [task, address] : addresses.tasks)
      if (first_label(address) == first_label(*host))
        own_tasks.push_back(task);
  return std::shared_ptr<address_source>{std::make_shared<listed_source>(
      std::move(addresses), std::move(own_tasks), concat("dns:", text.substr(0, 200)))};
}

result<std::shared_ptr<address_source>> make_kubernetes_source(std::string_view text,
                                                               const environment& variables) {
  constexpr std::string_view origin = "kubernetes:";
  TROUPE_ASSIGN(auto parsed, parse_source_text(text, origin, {"service", "name", "port"}));
  if (parsed.jobs.size() != 1 || !parsed.jobs[0].tasks || !parsed.jobs[0].pattern.empty())
    return invalid(origin, " needs one job with its number of tasks, such as "
                           "kubernetes:worker*4,service=train,port=7000; dns: takes several");
  auto host = variables("HOSTNAME");
  auto own_ordinal = host ? split_ordinal(*host) : std::nullopt;
  auto name = parsed.option("name", own_ordinal ? own_ordinal->first : "");
  if (name.empty())
    return invalid(origin, " HOSTNAME is ", host ? concat("'", *host, "'") : "not set",
                   ", which is not a pod of an indexed Job; set its name with name=");
  auto service = parsed.option("service");
  if (service.empty())
    return invalid(origin, " set the headless service of the pods with service=");
  TROUPE_ASSIGN(auto port, parse_port(parsed.option("port", "7000"), origin));
  auto& job = parsed.jobs[0];
  job.pattern = concat(name, "-{index}.", service, ':', port);
  TROUPE_ASSIGN(auto addresses, expand(parsed.jobs, origin));
  std::optional<task_name> self;
  if (own_ordinal && own_ordinal->first == name)
    self = task_name{job.job, own_ordinal->second};
  if (auto completion_index = variables("JOB_COMPLETION_INDEX")) {
    auto ordinal = split_ordinal("pod-" + *completion_index);
    if (!ordinal)
      return invalid(origin, " JOB_COMPLETION_INDEX is '", *completion_index,
                     "', which is not a number");
    self = task_name{job.job, ordinal->second};
  }
  if (self && !addresses.tasks.contains(*self))
    return invalid(origin, " this pod is number ", self->task, " of ", *job.tasks);
  return std::shared_ptr<address_source>{std::make_shared<listed_source>(
      std::move(addresses), std::move(self), "the environment of Kubernetes")};
}

} // namespace troupe
