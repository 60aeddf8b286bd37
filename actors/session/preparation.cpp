#include "troupe/actors/session/preparation.hpp"

#include "troupe/actors/session/encode_graphs.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/passes/extract.hpp"
#include "troupe/runtime/placement/frame_choice.hpp"

#include <algorithm>
#include <optional>

namespace troupe {
namespace {

void add_costs(register_partitions& to, const node_times& measured) {
  if (measured.empty())
    return;
  for (const auto& part : to.partitions)
    for (const auto& node : part.nodes->nodes())
      if (auto known = measured.find(node->name()))
        to.how.costs.push_back({node->name(), known->mean_ns});
}

bool has_state(const std::vector<partition>& parts) {
  return std::ranges::any_of(parts, [](const partition& part) {
    return std::ranges::any_of(part.nodes->nodes(),
                               [](const auto& node) { return node->op().makes != resource::none; });
  });
}

result<participant> take_part(const preparation& of, task_plan&& plan) {
  auto parts = std::make_shared<register_partitions>();
  parts->how.session = of.session;
  parts->how.container = of.container;
  parts->how.region_per_node = of.programs.region_per_node;
  parts->how.deterministic = of.programs.deterministic;
  parts->how.replay = of.programs.replay;
  parts->how.low_priority = of.what.low_priority;
  auto state = has_state(plan.partitions);
  parts->partitions = std::move(plan.partitions);
  add_costs(*parts, of.measured);
  participant made{.task = std::move(plan.task),
                   .partitions = {},
                   .graphs = {},
                   .feeds = std::move(plan.feeds),
                   .partners = std::move(plan.partners),
                   .has_state = state};
  if (of.here.contains(made.task)) {
    made.partitions = std::move(parts);
  } else {
    TROUPE_ASSIGN(made.graphs, encode_graphs(*parts));
  }
  return made;
}

std::optional<task_name> named_task(const std::string& device) {
  auto asked = device_name::parse(device);
  return asked && !asked->job.empty() && asked->task >= 0 ? std::optional{asked->on_task()}
                                                          : std::nullopt;
}

std::set<task_name> named_tasks(const graph& of) {
  std::set<task_name> found;
  for (const auto& at : of.nodes())
    for (const auto& name : named_devices(*at))
      if (auto task = named_task(name))
        found.insert(*std::move(task));
  return found;
}

// Whether there is a node that could run on another task.
bool is_open(const graph& of, const device_list& devices) {
  return std::ranges::any_of(
             devices,
             [&](const auto& one) { return one.on_task() != devices.front().on_task(); }) &&
         std::ranges::any_of(of.nodes(), [](const auto& at) {
           return &at->op() != &internal_ops::feed && &at->op() != &internal_ops::fetch &&
                  !named_task(at->device());
         });
}

} // namespace

status plan_step(preparation& of) {
  if (of.stop.raised())
    return failure(error_kind::cancelled, "the session is closed");
  for (const auto& one : of.what.costs)
    of.measured.add({.node = one.node, .device = one.device, .runs = 1, .mean_ns = one.mean_ns});
  if (of.source)
    of.source->copy_to(of.measured, of.what.outside.graph);
  // What was measured differs from run to run.
  of.plan.how.measured = of.programs.deterministic ? nullptr : &of.measured;
  if (of.ways && !of.programs.deterministic)
    of.links = link_costs::from(of.ways->all());
  of.plan.how.links = &of.links;
  TROUPE_ASSIGN(of.made, make_plan(of.work ? *of.work : *of.what.of, of.plan, &of.stop));
  return {};
}

result<std::shared_ptr<prepared_step>> make_step(preparation& of) {
  // What may be placed again, when a task is lost, begins from what no pass has changed.
  const auto& nodes = *of.what.of->nodes;
  auto may_leave = is_open(nodes, of.plan.devices);
  if (may_leave && !of.work)
    of.work = std::make_shared<step_graph>(copy_of(*of.what.of));
  TROUPE_TRY(plan_step(of));
  auto named = may_leave ? named_tasks(nodes) : std::set<task_name>{};
  std::vector<participant> all;
  for (auto& one : of.made.tasks) {
    TROUPE_ASSIGN(auto part, take_part(of, std::move(one)));
    part.may_leave = may_leave && !part.partitions && !part.has_state && !named.contains(part.task);
    all.push_back(std::move(part));
  }
  may_leave = std::ranges::any_of(all, &participant::may_leave);
  auto made =
      std::make_shared<prepared_step>(std::move(all), of.what.outside, of.programs.max_concurrent);
  if (may_leave)
    made->again = std::make_shared<prepare_request>(of.what);
  return made;
}

} // namespace troupe
