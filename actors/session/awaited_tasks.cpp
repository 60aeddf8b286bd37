#include "troupe/actors/session/awaited_tasks.hpp"

#include "troupe/actors/session/master.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <algorithm>
#include <set>

namespace troupe {
namespace {

// A wait ends a little before the deadline, so that placement can report the missing task.
constexpr std::chrono::milliseconds margin{50};

std::vector<device_name> requested_tasks(const graph& nodes) {
  std::set<device_name> requested;
  for (const auto& node : nodes.nodes())
    if (auto name = device_name::parse(node->device()); name && !name->job.empty())
      requested.insert({name->job, name->task, {}, -1});
  return {requested.begin(), requested.end()};
}

} // namespace

void take_tasks(device_list& devices, const std::vector<task_name>& tasks) {
  std::set<task_name> missing{tasks.begin(), tasks.end()};
  std::erase_if(devices, [&](const auto& name) { return !missing.contains(name.name_of_task()); });
  for (const auto& name : devices)
    missing.erase(name.name_of_task());
  for (const auto& task : missing)
    devices.push_back({task.job, task.task, "cpu", 0});
  std::ranges::stable_sort(devices, {}, [](const auto& name) {
    return std::pair{name.job != "worker", name.name_of_task()};
  });
}

void awaited_tasks::wait_for(const graph& nodes, step_clock::time_point deadline,
                             std::function<void()> then) {
  // Soft placement needs no particular task.
  auto any_task = !options_.may_change || options_.programs.placement.soft;
  wait_for(any_task ? std::vector<device_name>{} : requested_tasks(nodes), deadline,
           std::move(then));
}

void awaited_tasks::wait_for(std::vector<device_name> wanted, step_clock::time_point deadline,
                             std::function<void()> then) {
  if (!options_.may_change || all_known(wanted) || is_hopeless(wanted))
    return then();
  auto waiting = waiting_.insert(waiting_.end(), {std::move(wanted), std::move(then)});
  waiting->since = self_->clock().now();
  auto early = std::min<step_clock::duration>(margin, (deadline - self_->clock().now()) / 8);
  waiting->due = due_.add(self_, deadline - early, [this, waiting] {
    auto act = std::move(waiting->then);
    waiting_.erase(waiting);
    act();
  });
}

void awaited_tasks::check() {
  std::vector<std::function<void()>> ready;
  std::erase_if(waiting_, [&](auto& waiting) {
    if (!all_known(waiting.wanted))
      return false;
    due_.remove(waiting.due);
    ready.push_back(std::move(waiting.then));
    return true;
  });
  for (const auto& act : ready)
    act();
}

client_wait_list awaited_tasks::waits() const {
  client_wait_list listed;
  for (const auto& waiting : waiting_) {
    if (listed.size() == client_wait::max_waits)
      break;
    auto missing =
        std::ranges::find_if(waiting.wanted, [&](const auto& name) { return !all_known({name}); });
    listed.push_back(
        {.target = missing == waiting.wanted.end() ? "any task" : to_string(*missing),
         .reason = "the cluster does not have it yet",
         .steps = 1,
         .seconds = std::chrono::duration<double>(self_->clock().now() - waiting.since).count()});
  }
  return listed;
}

bool awaited_tasks::is_hopeless(const std::vector<device_name>& wanted) const {
  const auto& known = options_.devices;
  return options_.jobs_are_final && !known.empty() &&
         std::ranges::any_of(wanted, [&](const auto& name) {
           return std::ranges::find(known, name.job, &device_name::job) == known.end();
         });
}

bool awaited_tasks::all_known(const std::vector<device_name>& wanted) const {
  const auto& known = options_.devices;
  return !known.empty() && std::ranges::all_of(wanted, [&](const auto& name) {
    return std::ranges::any_of(known, [&](const auto& device) { return name.matches(device); });
  });
}

} // namespace troupe
