#include "troupe/runtime/cluster/plan.hpp"

#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/types/guarded.hpp"

#include <algorithm>
#include <map>

namespace troupe {
namespace {

void sort_unique(auto& values) {
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
}

task_plan& plan_of(step_plan& all, const task_name& task) {
  auto it = std::ranges::find(all.tasks, task, &task_plan::task);
  if (it == all.tasks.end())
    it = all.tasks.insert(it, task_plan{task, {}, {}, {}});
  return *it;
}

void note_feeds(task_plan& of, const graph& part) {
  for (const auto& node : part.nodes())
    if (&node->op() == &internal_ops::feed)
      of.feeds.push_back(static_cast<uint32_t>(node->attr<int64_t>("index")));
}

// Each tensor between tasks has a sender on one side, which names the other.
void note_partners(step_plan& all) {
  std::map<task_name, size_t> places;
  for (size_t i = 0; i < all.tasks.size(); ++i)
    places[all.tasks[i].task] = i;
  for (size_t i = 0; i < all.tasks.size(); ++i)
    for (const auto& part : all.tasks[i].partitions)
      for (const auto& node : part.nodes->nodes()) {
        if (&node->op() != &internal_ops::send && &node->op() != &internal_ops::send_control)
          continue;
        auto to = device_name::parse(node->attr<std::string>("to"));
        auto it = to ? places.find(to->on_task()) : places.end();
        if (it == places.end() || it->second == i)
          continue;
        all.tasks[i].partners.push_back(it->second);
        all.tasks[it->second].partners.push_back(i);
      }
  for (auto& one : all.tasks)
    sort_unique(one.partners);
}

void note_moved(step_plan& all, const std::vector<const node*>& moved) {
  for (const auto* node : moved)
    if (std::ranges::find(all.moved, node->op().name, [](const auto& one) -> std::string_view {
          return one.first;
        }) == all.moved.end())
      all.moved.emplace_back(node->op().name,
                             concat(node->description(),
                                    " should run on a GPU, which cannot run it or what shares its "
                                    "variable; it runs on the processor"));
}

result<step_plan> plan_it(step_graph& of, const plan_options& options, stop_signal* stop) {
  TROUPE_TRY(optimize(of, options.passes, options.host.get(), stop));
  if (stop && stop->due())
    return failure(error_kind::deadline_exceeded, "the time was over while the step was compiled");
  TROUPE_ASSIGN(auto placed, place(*of.nodes, options.devices, options.how));
  TROUPE_ASSIGN(auto parts, cut(*of.nodes, placed.chosen, options.devices));
  step_plan made;
  note_moved(made, placed.moved);
  for (auto& part : parts) {
    TROUPE_TRY(optimize(part, options.passes));
    auto& task = plan_of(made, part.device.on_task());
    note_feeds(task, *part.nodes);
    task.partitions.push_back(std::move(part));
  }
  for (auto& one : made.tasks)
    sort_unique(one.feeds);
  note_partners(made);
  return made;
}

} // namespace

result<step_plan> make_plan(step_graph& of, const plan_options& options, stop_signal* stop) {
  return guarded("compiling the step", [&] { return plan_it(of, options, stop); });
}

} // namespace troupe
