#include "troupe/actors/session/awaited_tasks.hpp"

#include "troupe/actors/session/master.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <algorithm>
#include <set>

namespace troupe {
namespace {

// Who waits in vain is told what placement says of it, a little before time is over.
constexpr std::chrono::milliseconds margin{50};

std::vector<device_name> tasks_that_are_asked_for(const graph& of) {
  std::set<device_name> found;
  for (const auto& at : of.nodes())
    if (auto asked = device_name::parse(at->device()); asked && !asked->job.empty())
      found.insert({asked->job, asked->task, {}, -1});
  return {found.begin(), found.end()};
}

} // namespace

void take_tasks(device_list& devices, const std::vector<task_name>& tasks) {
  std::set<task_name> now{tasks.begin(), tasks.end()};
  std::erase_if(devices, [&](const auto& one) { return !now.contains(one.on_task()); });
  for (const auto& one : devices)
    now.erase(one.on_task());
  for (const auto& task : now)
    devices.push_back({task.job, task.task, "cpu", 0});
  std::ranges::stable_sort(devices, {}, [](const auto& one) {
    return std::pair{one.job != "worker", one.on_task()};
  });
}

void awaited_tasks::wait_for(const graph& of, step_clock::time_point deadline,
                             std::function<void()> then) {
  // Softly placed nodes take what there is.
  auto any = !options_.may_change || options_.programs.placement.soft;
  wait_for(any ? std::vector<device_name>{} : tasks_that_are_asked_for(of), deadline,
           std::move(then));
}

void awaited_tasks::wait_for(std::vector<device_name> wanted, step_clock::time_point deadline,
                             std::function<void()> then) {
  if (!options_.may_change || all_there(wanted) || is_hopeless(wanted))
    return then();
  auto at = waiting_.insert(waiting_.end(), {std::move(wanted), std::move(then)});
  at->since = self_->clock().now();
  auto early = std::min<step_clock::duration>(margin, (deadline - self_->clock().now()) / 8);
  at->due = due_.add(self_, deadline - early, [this, at] {
    auto act = std::move(at->then);
    waiting_.erase(at);
    act();
  });
}

void awaited_tasks::look() {
  std::vector<std::function<void()>> ready;
  std::erase_if(waiting_, [&](auto& one) {
    if (!all_there(one.wanted))
      return false;
    due_.remove(one.due);
    ready.push_back(std::move(one.then));
    return true;
  });
  for (const auto& act : ready)
    act();
}

client_wait_list awaited_tasks::waits() const {
  client_wait_list listed;
  for (const auto& each : waiting_) {
    if (listed.size() == client_wait::most)
      break;
    auto missing =
        std::ranges::find_if(each.wanted, [&](const auto& asked) { return !all_there({asked}); });
    listed.push_back(
        {.target = missing == each.wanted.end() ? "any task" : to_string(*missing),
         .reason = "the cluster does not have it yet",
         .steps = 1,
         .seconds = std::chrono::duration<double>(self_->clock().now() - each.since).count()});
  }
  return listed;
}

bool awaited_tasks::is_hopeless(const std::vector<device_name>& wanted) const {
  const auto& there = options_.devices;
  return options_.jobs_are_final && !there.empty() &&
         std::ranges::any_of(wanted, [&](const auto& asked) {
           return std::ranges::find(there, asked.job, &device_name::job) == there.end();
         });
}

bool awaited_tasks::all_there(const std::vector<device_name>& wanted) const {
  const auto& there = options_.devices;
  return !there.empty() && std::ranges::all_of(wanted, [&](const auto& asked) {
    return std::ranges::any_of(there, [&](const auto& one) { return asked.matches(one); });
  });
}

} // namespace troupe
