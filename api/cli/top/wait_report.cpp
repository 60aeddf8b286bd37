#include "troupe/api/cli/top/wait_report.hpp"

#include "troupe/runtime/device/device_name.hpp"
#include "troupe/runtime/types/printable.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

namespace troupe {
namespace {

template <class Act>
void for_each_task(const inspection& part, Act& act) {
  if (part.kind == "task")
    return act(part);
  for (const auto& child : part.children)
    for_each_task(child, act);
}

// The contents of the task's queues and the like, by name; none of those that two containers have.
std::map<std::string, std::string> contents_of(const inspection& task) {
  std::map<std::string, std::string> found;
  std::set<std::string> twice;
  for (const auto& container : task.children)
    if (container.kind == "container")
      for (const auto& state : container.children) {
        auto name = state.ref.substr(state.ref.rfind(':') + 1);
        if (!found.emplace(name, text_of(state.find("content"))).second)
          twice.insert(name);
      }
  for (const auto& name : twice)
    found.erase(name);
  return found;
}

std::string task_of_device(const std::string& target, const std::string& self) {
  auto name = device_name::parse(target);
  if (!name || name->job.empty() || name->task < 0)
    return {};
  auto task = to_string(name->on_task());
  return task == self ? std::string{} : task;
}

void add_waits(const inspection& task, std::vector<cluster_wait>& to) {
  auto contents = contents_of(task);
  for (const auto& step : task.children)
    if (step.kind == "step" || step.kind == "hosted_session" || step.kind == "client")
      for (const auto& wait : step.children) {
        cluster_wait one{.task = task.ref,
                         .step = step.kind == "step" ? step.ref.substr(step.ref.rfind(':') + 1)
                                                     : wait.ref,
                         .what_for = text_of(wait.find("for")),
                         .node = text_of(wait.find("node")),
                         .target = text_of(wait.find("target")),
                         .detail = text_of(wait.find("detail")),
                         .other_task = {},
                         .seconds = number_of(wait.find("seconds"))};
        if (one.what_for == "tensor" || step.kind == "client")
          one.other_task = task_of_device(one.target, task.ref);
        if (step.kind == "client") {
          one.task = concat(text_of(step.find("client")), " of ", task.ref);
          one.steps = static_cast<size_t>(std::max(number_of(wait.find("steps")), 0.0));
        }
        if (auto it = contents.find(text_of(wait.find("name"))); it != contents.end())
          one.detail = it->second;
        to.push_back(std::move(one));
      }
}

void find_causes(std::vector<cluster_wait>& waits) {
  std::set<std::pair<std::string, std::string>> waiting; // step and task
  for (const auto& one : waits)
    waiting.emplace(one.step, one.task);
  for (auto& one : waits)
    one.is_cause = one.other_task.empty() || !waiting.contains({one.step, one.other_task});
}

std::string waits_for(const cluster_wait& one) {
  auto what = one.target.empty() ? one.what_for : one.target;
  if (one.what_for == "region")
    return "runs " + one.node;
  auto text = "waits for " + (one.other_task.empty() ? what : one.other_task);
  if (!one.detail.empty())
    text += " (" + one.detail + ')';
  return text + ": " + one.node;
}

} // namespace

std::vector<cluster_wait> waits_in(const inspection& cluster) {
  std::vector<cluster_wait> found;
  auto act = [&](const inspection& task) { add_waits(task, found); };
  for_each_task(cluster, act);
  find_causes(found);
  std::map<std::string, double> longest; // of a step
  for (const auto& one : found)
    longest[one.step] = std::max(longest[one.step], one.seconds);
  std::ranges::stable_sort(found, [&](const cluster_wait& a, const cluster_wait& b) {
    if (a.step != b.step)
      return std::pair{-longest[a.step], a.step} < std::pair{-longest[b.step], b.step};
    return std::tuple{!a.is_cause, -a.seconds} < std::tuple{!b.is_cause, -b.seconds};
  });
  return found;
}

std::vector<wait_summary> summarize(const std::vector<cluster_wait>& waits) {
  std::map<std::pair<std::string, std::string>, std::pair<std::map<std::string, size_t>, double>>
      all;
  for (const auto& one : waits) {
    if (one.what_for == "region")
      continue;
    const auto& target = !one.other_task.empty() ? one.other_task
                         : one.target.empty()    ? one.what_for
                                                 : one.target;
    auto& [steps, longest] = all[{one.task, target}];
    steps.insert_or_assign(one.step, one.steps);
    longest = std::max(longest, one.seconds);
  }
  std::vector<wait_summary> found;
  for (auto& [key, of] : all) {
    size_t steps = 0;
    for (const auto& [step, count] : of.first)
      steps += count;
    found.push_back({key.first, key.second, steps, of.second});
  }
  std::ranges::stable_sort(found, std::greater{}, &wait_summary::longest);
  return found;
}

std::string print_waits(const std::vector<cluster_wait>& waits, size_t most_steps) {
  if (waits.empty())
    return "no step waits\n";
  std::string text;
  for (const auto& one : summarize(waits))
    text += concat(printable(one.task), " waits for ", printable(one.target), ": ", one.steps,
                   one.steps == 1 ? " step" : " steps", ", the longest for ",
                   duration_text(one.longest), '\n');
  size_t steps = 0;
  std::string last;
  for (const auto& one : waits) {
    if (one.step != last) {
      last = one.step;
      if (++steps > most_steps) {
        text += "and more steps\n";
        break;
      }
      text += concat("\nstep ", printable(one.step), '\n');
    }
    text += concat("  ", printable(one.task), ' ', printable(waits_for(one)), ", for ",
                   duration_text(one.seconds), one.is_cause ? "" : " (as that task waits itself)",
                   '\n');
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
