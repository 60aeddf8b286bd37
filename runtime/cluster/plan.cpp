#include "troupe/runtime/cluster/plan.hpp"

#include "troupe/runtime/device/preferred_device.hpp"
#include "troupe/runtime/functions/frame.hpp"
#include "troupe/runtime/graph/function.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/passes/frames.hpp"
#include "troupe/runtime/passes/spread_collectives.hpp"
#include "troupe/runtime/placement/frame_choice.hpp"
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

void note_softened(step_plan& all, const placement& placed, const device_list& devices) {
  for (const auto* node : placed.softened) {
    auto asked = plain_device(node->device());
    if (asked.empty() ||
        std::ranges::any_of(all.softened, [&](const auto& one) { return one.first == asked; }))
      continue;
    auto got = placed.chosen[node->index()];
    all.softened.emplace_back(asked, concat(node->description(), " asks for '", asked,
                                            "', which is not there or cannot run it; it runs on ",
                                            devices[static_cast<size_t>(got)]));
  }
}

// Plans the step, and then the functions that run as frames, each as a step of its own.
class planner {
public:
  planner(const plan_options& options, stop_signal* stop) : options_(options), stop_(stop) {}

  status plan(step_graph& of, uint32_t frame = 0, uint32_t function = 0,
              const std::string& of_node = {}, int depth = 0) {
    if (depth == max_depth)
      return failure(error_kind::resource_exhausted, "branches and loops lie more than ", max_depth,
                     " deep within each other");
    TROUPE_TRY(optimize(of, options_.passes, options_.host.get(), stop_, options_.devices));
    if (stop_ && stop_->due())
      return failure(error_kind::deadline_exceeded,
                     "the time was over while the step was compiled");
    take_devices_from_bodies(*of.nodes);
    auto frames = find_frames(*of.nodes, options_.devices);
    TROUPE_ASSIGN(auto order, order_around_frames(*of.nodes, frames));
    auto how = options_.how;
    if (frame > 0) // runs where its functions' caller says
      how.strategy = placement_strategy::first_worker;
    TROUPE_ASSIGN(auto placed, place(*of.nodes, options_.devices, how));
    note_moved(made_, placed.moved);
    note_softened(made_, placed, options_.devices);
    if (frame == 0)
      made_.report = placed.report;
    TROUPE_ASSIGN(auto spread,
                  spread_collectives(of, placed.chosen, options_.devices, options_.between_tasks));
    if (spread) {
      TROUPE_ASSIGN(order, order_around_frames(*of.nodes, frames));
    }
    late_sends late;
    if (options_.receives == recv_schedule::late && frame == 0)
      late = find_late_sends(*of.nodes, placed.chosen, options_.devices, how);
    placed_frames placed_as;
    for (const auto* one : frames)
      TROUPE_TRY(plan_functions(*one, placed.chosen, depth, placed_as[one]));
    TROUPE_ASSIGN(auto parts, cut(*of.nodes, placed.chosen, options_.devices, placed_as, order,
                                  options_.between_tasks, late));
    for (auto& part : parts) {
      TROUPE_TRY(optimize(part, options_.passes));
      part.frame = frame;
      part.function = function;
      part.of_node = of_node;
      auto& task = plan_of(made_, part.device.on_task());
      if (frame == 0)
        note_feeds(task, *part.nodes);
      task.partitions.push_back(std::move(part));
    }
    return {};
  }

  step_plan finish() {
    for (auto& one : made_.tasks)
      sort_unique(one.feeds);
    note_partners(made_);
    return std::move(made_);
  }

private:
  static constexpr int max_depth = 64;

  status plan_functions(const node& of, const std::vector<int>& chosen, int depth,
                        placed_frame& into) {
    auto device_of = [&](const node& one) {
      return to_string(options_.devices[static_cast<size_t>(chosen[one.index()])]);
    };
    const frame_places places{device_of(of), device_of};
    into.number = ++frames_;
    for (uint32_t i = 0; i < functions_of(of).size(); ++i) {
      TROUPE_ASSIGN(auto body, frame_graph(of, i, places));
      auto about = of.description();
      TROUPE_TRY(plan(body, into.number, i, about, depth + 1).within(concat("[", about, "]")));
    }
    auto owner = options_.devices[static_cast<size_t>(chosen[of.index()])].on_task();
    for (const auto& task : made_.tasks) {
      auto takes_part = std::ranges::find(task.partitions, into.number, &partition::frame);
      if (task.task == owner || takes_part == task.partitions.end())
        continue;
      auto device = std::ranges::find(options_.devices, takes_part->device);
      into.others.push_back(static_cast<int>(device - options_.devices.begin()));
    }
    return {};
  }

  const plan_options& options_;
  stop_signal* const stop_;
  step_plan made_;
  uint32_t frames_ = 0;
};

result<step_plan> plan_it(step_graph& of, const plan_options& options, stop_signal* stop) {
  planner with{options, stop};
  TROUPE_TRY(with.plan(of));
  return with.finish();
}

} // namespace

result<step_plan> make_plan(step_graph& of, const plan_options& options, stop_signal* stop) {
  return guarded("compiling the step", [&] { return plan_it(of, options, stop); });
}

} // namespace troupe
