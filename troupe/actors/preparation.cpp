#include "troupe/actors/preparation.hpp"

#include "troupe/actors/encode_graphs.hpp"

#include <algorithm>

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
  TROUPE_ASSIGN(of.made, make_plan(*of.what.of, of.plan, &of.stop));
  return {};
}

result<std::shared_ptr<prepared_step>> make_step(preparation& of) {
  TROUPE_TRY(plan_step(of));
  std::vector<participant> all;
  for (auto& one : of.made.tasks) {
    TROUPE_ASSIGN(auto part, take_part(of, std::move(one)));
    all.push_back(std::move(part));
  }
  return std::make_shared<prepared_step>(std::move(all), of.what.outside,
                                         of.programs.max_concurrent);
}

} // namespace troupe
