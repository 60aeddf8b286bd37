#include "troupe/api/cli/top/wait_report.hpp"
// Collects, explains and prints the waits of a cluster's steps.

#include "troupe/runtime/device/device_name.hpp"
#include "troupe/runtime/types/printable.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

namespace troupe {
namespace {

template <class Visit>
void for_each_task(const inspection& part, Visit& visit) {
  if (part.kind == "task")
    return visit(part);
  for (const auto& child : part.children)
    for_each_task(child, visit);
}

// Returns the contents of the task's queues and other resources, by name. Names that occur in two
// containers are left out.
std::map<std::string, std::string> contents_of(const inspection& task) {
  std::map<std::string, std::string> contents;
  std::set<std::string> ambiguous;
  for (const auto& container : task.children)
    if (container.kind == "container")
      for (const auto& state : container.children) {
        auto name = state.ref.substr(state.ref.rfind(':') + 1);
        if (!contents.emplace(name, text_of(state.find("content"))).second)
          ambiguous.insert(name);
      }
  for (const auto& name : ambiguous)
    contents.erase(name);
  return contents;
}

std::string task_of_device(const std::string& target, const std::string& self) {
  auto name = device_name::parse(target);
  if (!name || name->job.empty() || name->task < 0)
    return {};
  auto task = to_string(name->name_of_task());
  return task == self ? std::string{} : task;
}

void add_waits(const inspection& task, std::vector<cluster_wait>& waits) {
  auto contents = contents_of(task);
  for (const auto& step : task.children)
    if (step.kind == "step" || step.kind == "hosted_session" || step.kind == "client")
      for (const auto& wait : step.children) {
        cluster_wait entry{.task = task.ref,
                           .step = step.kind == "step" ? step.ref.substr(step.ref.rfind(':') + 1)
                                                       : wait.ref,
                           .wait_kind = text_of(wait.find("for")),
                           .node = text_of(wait.find("node")),
                           .target = text_of(wait.find("target")),
                           .detail = text_of(wait.find("detail")),
                           .other_task = {},
                           .seconds = number_of(wait.find("seconds"))};
        if (entry.wait_kind == "tensor" || step.kind == "client")
          entry.other_task = task_of_device(entry.target, task.ref);
        if (step.kind == "client") {
          entry.task = concat(text_of(step.find("client")), " of ", task.ref);
          entry.steps = static_cast<size_t>(std::max(number_of(wait.find("steps")), 0.0));
        }
        if (auto content = contents.find(text_of(wait.find("name"))); content != contents.end())
          entry.detail = content->second;
        waits.push_back(std::move(entry));
      }
}

void find_causes(std::vector<cluster_wait>& waits) {
  std::set<std::pair<std::string, std::string>> waiting_steps; // pairs of step and task
  for (const auto& wait : waits)
    waiting_steps.emplace(wait.step, wait.task);
  for (auto& wait : waits)
    wait.is_cause =
        wait.other_task.empty() || !waiting_steps.contains({wait.step, wait.other_task});
}

std::string waits_for(const cluster_wait& wait) {
  auto target = wait.target.empty() ? wait.wait_kind : wait.target;
  if (wait.wait_kind == "region")
    return "runs " + wait.node;
  auto text = "waits for " + (wait.other_task.empty() ? target : wait.other_task);
  if (!wait.detail.empty())
    text += " (" + wait.detail + ')';
  return text + ": " + wait.node;
}

} // namespace

std::vector<cluster_wait> waits_in(const inspection& cluster) {
  std::vector<cluster_wait> waits;
  auto visit = [&](const inspection& task) { add_waits(task, waits); };
  for_each_task(cluster, visit);
  find_causes(waits);
  std::map<std::string, double> longest_of_step;
  for (const auto& wait : waits)
    longest_of_step[wait.step] = std::max(longest_of_step[wait.step], wait.seconds);
  std::ranges::stable_sort(waits, [&](const cluster_wait& a, const cluster_wait& b) {
    if (a.step != b.step)
      return std::pair{-longest_of_step[a.step], a.step} <
             std::pair{-longest_of_step[b.step], b.step};
    return std::tuple{!a.is_cause, -a.seconds} < std::tuple{!b.is_cause, -b.seconds};
  });
  return waits;
}

std::vector<wait_summary> summarize(const std::vector<cluster_wait>& waits) {
  std::map<std::pair<std::string, std::string>, std::pair<std::map<std::string, size_t>, double>>
      totals;
  for (const auto& wait : waits) {
    if (wait.wait_kind == "region")
      continue;
    const auto& target = !wait.other_task.empty() ? wait.other_task
                         : wait.target.empty()    ? wait.wait_kind
                                                  : wait.target;
    auto& [steps, longest] = totals[{wait.task, target}];
    steps.insert_or_assign(wait.step, wait.steps);
    longest = std::max(longest, wait.seconds);
  }
  std::vector<wait_summary> summaries;
  for (auto& [key, total] : totals) {
    size_t steps = 0;
    for (const auto& [step, count] : total.first)
      steps += count;
    summaries.push_back({key.first, key.second, steps, total.second});
  }
  std::ranges::stable_sort(summaries, std::greater{}, &wait_summary::longest);
  return summaries;
}

std::string print_waits(const std::vector<cluster_wait>& waits, size_t max_steps) {
  if (waits.empty())
    return "no step waits\n";
  std::string text;
  for (const auto& summary : summarize(waits))
    text += concat(printable(summary.task), " waits for ", printable(summary.target), ": ",
                   summary.steps, summary.steps == 1 ? " step" : " steps", ", the longest for ",
                   duration_text(summary.longest), '\n');
  size_t steps = 0;
  std::string last_step;
  for (const auto& wait : waits) {
    if (wait.step != last_step) {
      last_step = wait.step;
      if (++steps > max_steps) {
        text += "and more steps\n";
        break;
      }
      text += concat("\nstep ", printable(wait.step), '\n');
    }
    text += concat("  ", printable(wait.task), ' ', printable(waits_for(wait)), ", for ",
                   duration_text(wait.seconds),
                   wait.is_cause ? "" : " (because that task waits itself)", '\n');
  }
  return text;
}

std::string duration_text(double seconds) {
  char text[48];
  if (seconds < 1e-3)
    std::snprintf(text, sizeof text, "%.0f us", seconds * 1e6);
  else if (seconds < 1)
    std::snprintf(text, sizeof text, "%.1f ms", seconds * 1e3);
  else if (seconds < 100)
    std::snprintf(text, sizeof text, "%.1f s", seconds);
  else if (seconds < 3600)
    std::snprintf(text, sizeof text, "%.0f min", seconds / 60);
  else
    std::snprintf(text, sizeof text, "%.0f h %02.0f min",
                  static_cast<double>(int64_t(seconds / 3600)),
                  static_cast<double>(int64_t(seconds / 60) % 60));
  return text;
}

} // namespace troupe
