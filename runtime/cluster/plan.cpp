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

task_plan& plan_of(step_plan& plan, const task_name& task) {
  auto entry = std::ranges::find(plan.tasks, task, &task_plan::task);
  if (entry == plan.tasks.end())
    entry = plan.tasks.insert(entry, task_plan{task, {}, {}, {}});
  return *entry;
}

void note_feeds(task_plan& plan, const graph& part) {
  for (const auto& node : part.nodes())
    if (&node->op() == &internal_ops::feed)
      plan.feeds.push_back(static_cast<uint32_t>(node->attr<int64_t>("index")));
}

// Each tensor between tasks has a send in one partition, which names the other device.
void note_partners(step_plan& plan) {
  std::map<task_name, size_t> index_of_task;
  for (size_t i = 0; i < plan.tasks.size(); ++i)
    index_of_task[plan.tasks[i].task] = i;
  for (size_t i = 0; i < plan.tasks.size(); ++i)
    for (const auto& part : plan.tasks[i].partitions)
      for (const auto& node : part.nodes->nodes()) {
        if (&node->op() != &internal_ops::send && &node->op() != &internal_ops::send_control)
          continue;
        auto to = device_name::parse(node->attr<std::string>("to"));
        auto partner = to ? index_of_task.find(to->name_of_task()) : index_of_task.end();
        if (partner == index_of_task.end() || partner->second == i)
          continue;
        plan.tasks[i].partners.push_back(partner->second);
        plan.tasks[partner->second].partners.push_back(i);
      }
  for (auto& task : plan.tasks)
    sort_unique(task.partners);
}

void note_moved(step_plan& plan, const std::vector<const node*>& moved) {
  for (const auto* node : moved)
    if (std::ranges::find(plan.moved, node->op().name, [](const auto& entry) -> std::string_view {
          return entry.first;
        }) == plan.moved.end())
      plan.moved.emplace_back(
          node->op().name,
          concat(node->description(),
                 " should run on a GPU, but the GPU cannot run it or a node that shares its "
                 "variable; it runs on the processor"));
}

void note_softened(step_plan& plan, const placement& placed, const device_list& devices) {
  for (const auto* node : placed.replaced_requests) {
    auto requested_device = plain_device(node->device());
    if (requested_device.empty() || std::ranges::any_of(plan.softened, [&](const auto& entry) {
          return entry.first == requested_device;
        }))
      continue;
    auto device = placed.chosen[node->index()];
    plan.softened.emplace_back(requested_device,
                               concat(node->description(), " asks for '", requested_device,
                                      "', which is not there or cannot run it; it runs on ",
                                      devices[static_cast<size_t>(device)]));
  }
}

// Plans the step and then the functions that run as frames, each like a step of its own.
class planner {
public:
  planner(const plan_options& options, stop_signal* stop) : options_(options), stop_(stop) {}

  status plan(step_graph& planned, uint32_t frame = 0, uint32_t function = 0,
              const std::string& of_node = {}, int depth = 0) {
    if (depth == max_depth)
      return failure(error_kind::resource_exhausted, "branches and loops are nested more than ",
                     max_depth, " deep");
    TROUPE_TRY(optimize(planned, options_.passes, options_.host.get(), stop_, options_.devices));
    if (stop_ && stop_->is_due())
      return failure(error_kind::deadline_exceeded,
                     "the deadline passed while the step was compiled");
    infer_devices_from_bodies(*planned.nodes);
    auto frames = find_frames(*planned.nodes, options_.devices);
    TROUPE_ASSIGN(auto order, order_around_frames(*planned.nodes, frames));
    auto options = options_.how;
    if (frame > 0) // the caller of the functions has been placed already
      options.strategy = placement_strategy::first_worker;
    TROUPE_ASSIGN(auto placed, place(*planned.nodes, options_.devices, options));
    note_moved(plan_, placed.moved_to_host);
    note_softened(plan_, placed, options_.devices);
    if (frame == 0)
      plan_.report = placed.report;
    TROUPE_ASSIGN(auto spread, spread_collectives(planned, placed.chosen, options_.devices,
                                                  options_.transfer_precision));
    if (spread) {
      TROUPE_ASSIGN(order, order_around_frames(*planned.nodes, frames));
    }
    late_requests late;
    if (options_.receives == recv_schedule::late && frame == 0)
      late = find_late_requests(*planned.nodes, placed.chosen, options_.devices, options);
    placed_frames placed_as;
    for (const auto* frame_node : frames)
      TROUPE_TRY(plan_functions(*frame_node, placed.chosen, depth, placed_as[frame_node]));
    TROUPE_ASSIGN(auto parts, cut(*planned.nodes, placed.chosen, options_.devices, placed_as, order,
                                  options_.transfer_precision, late));
    for (auto& part : parts) {
      TROUPE_TRY(optimize(part, options_.passes));
      part.frame = frame;
      part.function = function;
      part.of_node = of_node;
      auto& task = plan_of(plan_, part.device.name_of_task());
      if (frame == 0)
        note_feeds(task, *part.nodes);
      task.partitions.push_back(std::move(part));
    }
    return {};
  }

  step_plan finish() {
    for (auto& task : plan_.tasks)
      sort_unique(task.feeds);
    note_partners(plan_);
    return std::move(plan_);
  }

private:
  static constexpr int max_depth = 64;

  status plan_functions(const node& caller, const std::vector<int>& chosen, int depth,
                        placed_frame& frame) {
    auto device_of = [&](const node& placed_node) {
      return to_string(options_.devices[static_cast<size_t>(chosen[placed_node.index()])]);
    };
    const frame_places places{device_of(caller), device_of};
    frame.number = ++frames_;
    for (uint32_t i = 0; i < functions_of(caller).size(); ++i) {
      TROUPE_ASSIGN(auto body, frame_graph(caller, i, places));
      auto description = caller.description();
      TROUPE_TRY(plan(body, frame.number, i, description, depth + 1)
                     .with_context(concat("[", description, "]")));
    }
    auto owner = options_.devices[static_cast<size_t>(chosen[caller.index()])].name_of_task();
    for (const auto& task : plan_.tasks) {
      auto part = std::ranges::find(task.partitions, frame.number, &partition::frame);
      if (task.task == owner || part == task.partitions.end())
        continue;
      auto device = std::ranges::find(options_.devices, part->device);
      frame.others.push_back(static_cast<int>(device - options_.devices.begin()));
    }
    return {};
  }

  const plan_options& options_;
  stop_signal* const stop_;
  step_plan plan_;
  uint32_t frames_ = 0;
};

result<step_plan> plan_step(step_graph& planned, const plan_options& options, stop_signal* stop) {
  planner step_planner{options, stop};
  TROUPE_TRY(step_planner.plan(planned));
  return step_planner.finish();
}

} // namespace

result<step_plan> make_plan(step_graph& planned, const plan_options& options, stop_signal* stop) {
  return guarded("compiling the step", [&] { return plan_step(planned, options, stop); });
}

} // namespace troupe
