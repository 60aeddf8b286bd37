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

// Smaller tensors travel within their message.
constexpr double min_bytes = 64 * 1024;

// Estimates can be wrong by this factor, and a tensor that arrives late delays the step.
constexpr double margin = 2;

struct reader {
  const node* first = nullptr;
  double begins_ns = 0;
};

link_cost cost_of(const place_options& options, const device_name& from, const device_name& to) {
  if (!options.links)
    return default_link;
  auto known = options.links->known().find({from.name_of_task(), to.name_of_task()});
  return known == options.links->known().end() ? options.links->default_cost() : known->second;
}

bool may_call(const node& caller) {
  return caller.op().state_kind == resource::none && !internal_ops::is_boundary(caller) &&
         !internal_ops::is_constant(caller) && !runs_functions(caller.op()) &&
         !has(caller.op().effects, effect::blocking);
}

} // namespace

late_requests find_late_requests(const graph& placed, const std::vector<int>& chosen,
                                 const device_list& devices, const place_options& options) {
  auto device_of = [&](const node& placed_node) { return chosen[placed_node.index()]; };
  std::map<std::tuple<const node*, int, int>, reader> readers;
  std::vector<std::vector<node*>> callers(devices.size()); // by device, in topological order
  auto run = simulate(placed, devices, options, chosen);
  for (const auto& node : placed.nodes()) {
    auto to_device = device_of(*node);
    if (to_device < 0)
      continue;
    if (may_call(*node))
      callers[static_cast<size_t>(to_device)].push_back(node.get());
    for (int i = 0; i < static_cast<int>(node->inputs().size()); ++i) {
      auto from = node->inputs()[static_cast<size_t>(i)];
      auto from_device = device_of(*from.node);
      if (from_device < 0 || node->input_is_ref(i) || internal_ops::is_constant(*from.node) ||
          devices[static_cast<size_t>(from_device)].name_of_task() ==
              devices[static_cast<size_t>(to_device)].name_of_task() ||
          expected_bytes(from.type(), from.dims()) < min_bytes)
        continue;
      auto& known = readers[{from.node, from.index, to_device}];
      auto begins = run.begin_ns[node->index()];
      if (!known.first)
        known = {node.get(), begins};
      known.begins_ns = std::min(known.begins_ns, begins);
    }
  }
  late_requests sends;
  for (const auto& [tensor_key, reading] : readers) {
    const auto& [from, output, to_device] = tensor_key;
    auto cost = cost_of(options, devices[static_cast<size_t>(device_of(*from))],
                        devices[static_cast<size_t>(to_device)]);
    auto transfer_ns =
        cost.latency_ns +
        cost.transfer_ns(expected_bytes(from->output_type(output), from->output_shape(output)));
    auto latest = reading.begins_ns - margin * transfer_ns;
    node* last = nullptr;
    for (auto* caller : callers[static_cast<size_t>(to_device)]) {
      if (caller->id() >= reading.first->id())
        break;
      if (auto end = run.end_ns[caller->index()];
          end <= latest && (!last || end >= run.end_ns[last->index()]))
        last = caller;
    }
    if (last && run.end_ns[last->index()] > run.end_ns[from->index()])
      sends[tensor_key] = last;
  }
  return sends;
}

} // namespace troupe
