// The environment that Slurm gives the processes of a step.
#include "troupe/serialization/discovery/host_list.hpp"
#include "troupe/serialization/discovery/listed_source.hpp"
#include "troupe/serialization/discovery/source_text.hpp"
#include "troupe/serialization/discovery/sources.hpp"

#include <charconv>
#include <numeric>

namespace troupe {
namespace {

constexpr std::string_view origin = "slurm:";

// Where each rank runs, and as which of its host.
struct layout {
  std::vector<std::string> hosts;
  std::vector<int> counts; // of ranks, by host
  size_t ranks() const { return std::accumulate(counts.begin(), counts.end(), size_t{0}); }
};

result<std::string> wanted(const environment& from, const std::string& name) {
  if (auto value = from(name); value && !value->empty())
    return *std::move(value);
  return failure(error_kind::failed_precondition, origin, ' ', name,
                 " is not set: this process runs in no Slurm job");
}

result<layout> read_layout(const environment& from, const std::string& nodes,
                           const std::string& counts) {
  layout made;
  TROUPE_ASSIGN(auto list, wanted(from, nodes));
  TROUPE_ASSIGN(auto per_host, wanted(from, counts));
  TROUPE_ASSIGN(made.hosts, expand_host_list(list, max_tasks_of_source));
  TROUPE_ASSIGN(made.counts, expand_counts(per_host, max_tasks_of_source));
  if (made.hosts.size() != made.counts.size())
    return invalid(origin, ' ', nodes, " names ", made.hosts.size(), " hosts, and ", counts,
                   " says how many tasks ", made.counts.size(), " of them have");
  if (made.ranks() > max_tasks_of_source)
    return invalid(origin, " there are ", made.ranks(), " tasks, at most ", max_tasks_of_source);
  return made;
}

// Pairs of host and number on that host, by rank.
std::vector<std::pair<size_t, int>> by_rank(const layout& of, bool cyclic) {
  std::vector<std::pair<size_t, int>> made;
  if (!cyclic) {
    for (size_t host = 0; host < of.hosts.size(); ++host)
      for (int i = 0; i < of.counts[host]; ++i)
        made.emplace_back(host, i);
    return made;
  }
  std::vector<size_t> with_more(of.hosts.size());
  std::iota(with_more.begin(), with_more.end(), size_t{0});
  for (int turn = 0; !with_more.empty(); ++turn) {
    for (auto host : with_more)
      made.emplace_back(host, turn);
    std::erase_if(with_more, [&](auto host) { return of.counts[host] == turn + 1; });
  }
  return made;
}

result<bool> is_cyclic(const environment& from) {
  auto how = from("SLURM_DISTRIBUTION").value_or("");
  auto first = how.substr(0, how.find_first_of(",:"));
  if (first.empty() || first == "block")
    return false;
  if (first == "cyclic")
    return true;
  return invalid(origin, " tasks are distributed over hosts as '", how,
                 "'; use srun --distribution=block or cyclic");
}

} // namespace

result<std::shared_ptr<address_source>> make_slurm_source(std::string_view text,
                                                          const environment& from) {
  TROUPE_ASSIGN(auto parsed, parse_source_text(text, origin, {"port"}));
  if (parsed.jobs.empty())
    parsed.jobs.push_back({"worker", {}, {}});
  size_t said = 0;
  for (const auto& job : parsed.jobs) {
    if (!job.pattern.empty())
      return invalid(origin, " '", job.job, "' has an address; Slurm gives the hosts");
    if (!job.tasks && &job != &parsed.jobs.back())
      return invalid(origin, " '", job.job, "' wants its number of tasks, as in ", job.job,
                     "*2; only the last job has the rest");
    said += static_cast<size_t>(job.tasks.value_or(0));
  }
  TROUPE_ASSIGN(auto port, parse_port(parsed.option("port", "7000"), origin));

  auto open = !parsed.jobs.back().tasks;
  result<layout> found = failure(error_kind::not_found, "no step");
  if (from("SLURM_STEP_NODELIST"))
    found = read_layout(from, "SLURM_STEP_NODELIST", "SLURM_STEP_TASKS_PER_NODE");
  auto is_step = found && (open ? found->ranks() > said : found->ranks() == said);
  if (!is_step)
    found = read_layout(from, "SLURM_JOB_NODELIST", "SLURM_TASKS_PER_NODE");
  if (!found)
    return found.status();
  auto ranks = found->ranks();
  if (open ? ranks <= said : ranks != said)
    return invalid(origin, " the text names ", open ? "more than " : "", said,
                   " tasks, and Slurm runs ", ranks);
  if (open)
    parsed.jobs.back().tasks = static_cast<int>(ranks - said);

  TROUPE_ASSIGN(auto cyclic, is_cyclic(from));
  std::optional<size_t> own;
  if (is_step || !from("SLURM_STEP_NODELIST"))
    if (auto rank = from("SLURM_PROCID")) {
      size_t number = 0;
      auto [end, problem] = std::from_chars(rank->data(), rank->data() + rank->size(), number);
      if (problem != std::errc{} || end != rank->data() + rank->size() || number >= ranks)
        return invalid(origin, " SLURM_PROCID is '", *rank, "', and there are ", ranks, " tasks");
      own = number;
    }
  task_addresses made;
  std::optional<task_name> self;
  auto places = by_rank(*found, cyclic);
  size_t rank = 0;
  for (const auto& job : parsed.jobs)
    for (int i = 0; i < *job.tasks; ++i, ++rank) {
      auto [host, on_host] = places[rank];
      if (port + on_host > 65'535)
        return invalid(origin, " from port ", port, " on there are not enough ports on ",
                       found->hosts[host]);
      made.tasks[{job.job, i}] = concat(found->hosts[host], ':', port + on_host);
      if (own == rank)
        self = task_name{job.job, i};
    }
  return std::shared_ptr<address_source>{std::make_shared<listed_source>(
      std::move(made), std::move(self), "the environment of Slurm")};
}

} // namespace troupe
