// The source of addresses in the environment of a Slurm step.
#include "troupe/serialization/discovery/host_list.hpp"
#include "troupe/serialization/discovery/listed_source.hpp"
#include "troupe/serialization/discovery/source_text.hpp"
#include "troupe/serialization/discovery/sources.hpp"

#include <charconv>
#include <numeric>

namespace troupe {
namespace {

constexpr std::string_view origin = "slurm:";

// The hosts of a step, and the number of ranks on each.
struct layout {
  std::vector<std::string> hosts;
  std::vector<int> counts; // of ranks, by host
  size_t ranks() const { return std::accumulate(counts.begin(), counts.end(), size_t{0}); }
};

result<std::string> required_variable(const environment& variables, const std::string& name) {
  if (auto value = variables(name); value && !value->empty())
    return *std::move(value);
  return failure(error_kind::failed_precondition, origin, ' ', name,
                 " is not set: this process does not run in a Slurm job");
}

result<layout> read_layout(const environment& variables, const std::string& nodes,
                           const std::string& counts) {
  layout step_layout;
  TROUPE_ASSIGN(auto host_list, required_variable(variables, nodes));
  TROUPE_ASSIGN(auto per_host, required_variable(variables, counts));
  TROUPE_ASSIGN(step_layout.hosts, expand_host_list(host_list, max_tasks_of_source));
  TROUPE_ASSIGN(step_layout.counts, expand_counts(per_host, max_tasks_of_source));
  if (step_layout.hosts.size() != step_layout.counts.size())
    return invalid(origin, ' ', nodes, " names ", step_layout.hosts.size(), " hosts, but ", counts,
                   " has task counts of ", step_layout.counts.size());
  if (step_layout.ranks() > max_tasks_of_source)
    return invalid(origin, " there are ", step_layout.ranks(), " tasks, at most ",
                   max_tasks_of_source);
  return step_layout;
}

// Returns the host and the number on that host of each rank.
std::vector<std::pair<size_t, int>> by_rank(const layout& step_layout, bool cyclic) {
  std::vector<std::pair<size_t, int>> places;
  if (!cyclic) {
    for (size_t host = 0; host < step_layout.hosts.size(); ++host)
      for (int i = 0; i < step_layout.counts[host]; ++i)
        places.emplace_back(host, i);
    return places;
  }
  std::vector<size_t> open_hosts(step_layout.hosts.size());
  std::iota(open_hosts.begin(), open_hosts.end(), size_t{0});
  for (int round = 0; !open_hosts.empty(); ++round) {
    for (auto host : open_hosts)
      places.emplace_back(host, round);
    std::erase_if(open_hosts, [&](auto host) { return step_layout.counts[host] == round + 1; });
  }
  return places;
}

result<bool> is_cyclic(const environment& variables) {
  auto distribution = variables("SLURM_DISTRIBUTION").value_or("");
  auto method = distribution.substr(0, distribution.find_first_of(",:"));
  if (method.empty() || method == "block")
    return false;
  if (method == "cyclic")
    return true;
  return invalid(origin, " tasks are distributed over hosts as '", distribution,
                 "'; use srun --distribution=block or cyclic");
}

} // namespace

result<std::shared_ptr<address_source>> make_slurm_source(std::string_view text,
                                                          const environment& variables) {
  TROUPE_ASSIGN(auto parsed, parse_source_text(text, origin, {"port"}));
  if (parsed.jobs.empty())
    parsed.jobs.push_back({"worker", {}, {}});
  size_t named_tasks = 0;
  for (const auto& job : parsed.jobs) {
    if (!job.pattern.empty())
      return invalid(origin, " '", job.job, "' has an address; Slurm gives the hosts");
    if (!job.tasks && &job != &parsed.jobs.back())
      return invalid(origin, " '", job.job, "' needs its number of tasks, as in ", job.job,
                     "*2; only the last job takes the remaining tasks");
    named_tasks += static_cast<size_t>(job.tasks.value_or(0));
  }
  TROUPE_ASSIGN(auto port, parse_port(parsed.option("port", "7000"), origin));

  auto open = !parsed.jobs.back().tasks;
  result<layout> step_layout = failure(error_kind::not_found, "no step");
  if (variables("SLURM_STEP_NODELIST"))
    step_layout = read_layout(variables, "SLURM_STEP_NODELIST", "SLURM_STEP_TASKS_PER_NODE");
  auto is_step = step_layout &&
                 (open ? step_layout->ranks() > named_tasks : step_layout->ranks() == named_tasks);
  if (!is_step)
    step_layout = read_layout(variables, "SLURM_JOB_NODELIST", "SLURM_TASKS_PER_NODE");
  if (!step_layout)
    return step_layout.status();
  auto ranks = step_layout->ranks();
  if (open ? ranks <= named_tasks : ranks != named_tasks)
    return invalid(origin, " the text names ", open ? "more than " : "", named_tasks,
                   " tasks, but Slurm runs ", ranks);
  if (open)
    parsed.jobs.back().tasks = static_cast<int>(ranks - named_tasks);

  TROUPE_ASSIGN(auto cyclic, is_cyclic(variables));
  std::optional<size_t> own_rank;
  if (is_step || !variables("SLURM_STEP_NODELIST"))
    if (auto rank = variables("SLURM_PROCID")) {
      size_t parsed_rank = 0;
      auto [end, problem] = std::from_chars(rank->data(), rank->data() + rank->size(), parsed_rank);
      if (problem != std::errc{} || end != rank->data() + rank->size() || parsed_rank >= ranks)
        return invalid(origin, " SLURM_PROCID is '", *rank, "', but there are ", ranks, " tasks");
      own_rank = parsed_rank;
    }
  task_addresses addresses;
  std::optional<task_name> self;
  auto places = by_rank(*step_layout, cyclic);
  size_t rank = 0;
  for (const auto& job : parsed.jobs)
    for (int i = 0; i < *job.tasks; ++i, ++rank) {
      auto [host, on_host] = places[rank];
      if (port + on_host > 65'535)
        return invalid(origin, " there are not enough ports from ", port, " upwards on ",
                       step_layout->hosts[host]);
      addresses.tasks[{job.job, i}] = concat(step_layout->hosts[host], ':', port + on_host);
      if (own_rank == rank)
        self = task_name{job.job, i};
    }
  return std::shared_ptr<address_source>{std::make_shared<listed_source>(
      std::move(addresses), std::move(self), "the environment of Slurm")};
}

} // namespace troupe
