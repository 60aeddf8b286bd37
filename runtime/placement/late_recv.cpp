#include "troupe/runtime/placement/late_recv.hpp"

#include "troupe/runtime/graph/function.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/placement/cost.hpp"
#include "troupe/runtime/placement/link_costs.hpp"
#include "troupe/runtime/placement/simulation.hpp"

#include <algorithm>
#include <vector>

namespace troupe {
namespace {

// What is smaller travels within its message.
constexpr double least_bytes = 64 * 1024;

// Estimates are wrong by as much now and then, and what comes too late holds up the step.
constexpr double margin = 2;

struct reader {
  const node* first = nullptr;
  double begins_ns = 0;
};

link_cost cost_of(const placing& how, const device_name& from, const device_name& to) {
  if (!how.links)
    return usual_link;
  auto it = how.links->known().find({from.on_task(), to.on_task()});
  return it == how.links->known().end() ? how.links->usual() : it->second;
}

bool may_call(const node& one) {
  return one.op().makes == resource::none && !internal_ops::is_boundary(one) &&
         !internal_ops::is_constant(one) && !runs_functions(one.op()) &&
         !has(one.op().effects, effect::blocking);
}

} // namespace

late_sends find_late_sends(const graph& of, const std::vector<int>& chosen,
                           const device_list& devices, const placing& how) {
  auto device_of = [&](const node& one) { return chosen[one.index()]; };
  std::map<std::tuple<const node*, int, int>, reader> readers;
  std::vector<std::vector<node*>> callers(devices.size()); // of each device, in the step's order
  auto run = simulate(of, devices, how, chosen);
  for (const auto& node : of.nodes()) {
    auto here = device_of(*node);
    if (here < 0)
      continue;
    if (may_call(*node))
      callers[static_cast<size_t>(here)].push_back(node.get());
    for (int i = 0; i < static_cast<int>(node->inputs().size()); ++i) {
      auto from = node->inputs()[static_cast<size_t>(i)];
      auto there = device_of(*from.node);
      if (there < 0 || node->input_is_ref(i) || internal_ops::is_constant(*from.node) ||
          devices[static_cast<size_t>(there)].on_task() ==
              devices[static_cast<size_t>(here)].on_task() ||
          expected_bytes(from.type(), from.dims()) < least_bytes)
        continue;
      auto& known = readers[{from.node, from.index, here}];
      auto begins = run.begin_ns[node->index()];
      if (!known.first)
        known = {node.get(), begins};
      known.begins_ns = std::min(known.begins_ns, begins);
    }
  }
  late_sends found;
  for (const auto& [what, by] : readers) {
    const auto& [from, output, here] = what;
    auto cost = cost_of(how, devices[static_cast<size_t>(device_of(*from))],
                        devices[static_cast<size_t>(here)]);
    auto way = cost.latency_ns +
               cost.of(expected_bytes(from->output_type(output), from->output_shape(output)));
    auto latest = by.begins_ns - margin * way;
    node* last = nullptr;
    for (auto* caller : callers[static_cast<size_t>(here)]) {
      if (caller->id() >= by.first->id())
        break;
      if (auto end = run.end_ns[caller->index()];
          end <= latest && (!last || end >= run.end_ns[last->index()]))
        last = caller;
    }
    if (last && run.end_ns[last->index()] > run.end_ns[from->index()])
      found[what] = last;
  }
  return found;
}

} // namespace troupe
