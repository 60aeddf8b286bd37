#include "troupe/actors/session/preparation.hpp"

#include "troupe/actors/session/encode_graphs.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/passes/extract.hpp"
#include "troupe/runtime/placement/frame_choice.hpp"

#include <algorithm>
#include <optional>

namespace troupe {
namespace {

void add_costs(register_partitions& registration, const node_times& measured) {
  if (measured.empty())
    return;
  for (const auto& part : registration.partitions)
    for (const auto& node : part.nodes->nodes())
      if (auto known = measured.find(node->name()))
        registration.settings.costs.push_back({node->name(), known->mean_ns});
}

bool has_state(const std::vector<partition>& parts) {
  return std::ranges::any_of(parts, [](const partition& part) {
    return std::ranges::any_of(part.nodes->nodes(), [](const auto& node) {
      return node->op().state_kind != resource::none;
    });
  });
}

result<participant> take_part(const preparation& job, task_plan&& plan) {
  auto registration = std::make_shared<register_partitions>();
  registration->settings.session = job.session;
  registration->settings.container = job.container;
  registration->settings.region_per_node = job.programs.region_per_node;
  registration->settings.deterministic = job.programs.deterministic;
  registration->settings.replay = job.programs.replay;
  registration->settings.low_priority = job.request.low_priority;
  auto state = has_state(plan.partitions);
  registration->partitions = std::move(plan.partitions);
  add_costs(*registration, job.graph_times);
  participant part{.task = std::move(plan.task),
                   .partitions = {},
                   .graphs = {},
                   .feeds = std::move(plan.feeds),
                   .partners = std::move(plan.partners),
                   .has_state = state};
  if (job.local_tasks.contains(part.task)) {
    part.partitions = std::move(registration);
  } else {
    TROUPE_ASSIGN(part.graphs, encode_graphs(*registration));
  }
  return part;
}

std::optional<task_name> named_task(const std::string& device) {
  auto name = device_name::parse(device);
  return name && !name->job.empty() && name->task >= 0 ? std::optional{name->name_of_task()}
                                                       : std::nullopt;
}

std::set<task_name> named_tasks(const graph& nodes) {
  std::set<task_name> tasks;
  for (const auto& node : nodes.nodes())
    for (const auto& name : named_devices(*node))
      if (auto task = named_task(name))
        tasks.insert(*std::move(task));
  return tasks;
}

// Returns whether a node could run on another task.
bool is_movable(const graph& nodes, const device_list& devices) {
  return std::ranges::any_of(devices,
                             [&](const auto& name) {
                               return name.name_of_task() != devices.front().name_of_task();
                             }) &&
         std::ranges::any_of(nodes.nodes(), [](const auto& node) {
           return &node->op() != &internal_ops::feed && &node->op() != &internal_ops::fetch &&
                  !named_task(node->device());
         });
}

} // namespace

status plan_step(preparation& job) {
  if (job.stop.raised())
    return failure(error_kind::cancelled, "the session is closed");
  for (const auto& cost : job.request.costs)
    job.graph_times.add(
        {.node = cost.node, .device = cost.device, .runs = 1, .mean_ns = cost.mean_ns});
  if (job.session_times)
    job.session_times->copy_to(job.graph_times, job.request.interface.graph);
  // Measurements differ from run to run, so deterministic plans do not use them.
  job.options.how.measured = job.programs.deterministic ? nullptr : &job.graph_times;
  if (job.session_links && !job.programs.deterministic)
    job.links = link_costs::from(job.session_links->list());
  job.options.how.links = &job.links;
  auto& source = job.graph_copy ? *job.graph_copy : *job.request.graph_copy;
  TROUPE_ASSIGN(job.plan, make_plan(source, job.options, &job.stop));
  return {};
}

result<std::shared_ptr<prepared_step>> make_step(preparation& job) {
  // A step that may be placed again keeps the graph of the request, which no pass has changed.
  const auto& nodes = *job.request.graph_copy->nodes;
  auto step_is_movable = is_movable(nodes, job.options.devices);
  if (step_is_movable && !job.graph_copy)
    job.graph_copy = std::make_shared<step_graph>(copy_of(*job.request.graph_copy));
  TROUPE_TRY(plan_step(job));
  auto named = step_is_movable ? named_tasks(nodes) : std::set<task_name>{};
  std::vector<participant> participants;
  for (auto& planned : job.plan.tasks) {
    TROUPE_ASSIGN(auto part, take_part(job, std::move(planned)));
    part.is_movable =
        step_is_movable && !part.partitions && !part.has_state && !named.contains(part.task);
    participants.push_back(std::move(part));
  }
  step_is_movable = std::ranges::any_of(participants, &participant::is_movable);
  auto step = std::make_shared<prepared_step>(std::move(participants), job.request.interface,
                                              job.programs.max_concurrent_steps);
  if (step_is_movable)
    step->request = std::make_shared<prepare_request>(job.request);
  return step;
}

} // namespace troupe
