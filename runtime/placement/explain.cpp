#include "troupe/runtime/placement/explain.hpp"

#include "troupe/runtime/device/preferred_device.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"

#include <algorithm>
#include <cstdio>

namespace troupe {
namespace {

// Prints three digits; the cost model is not more accurate.
std::string time_text(double ns) {
  char text[32];
  if (ns < 1e3)
    std::snprintf(text, sizeof text, "%.3g ns", ns);
  else if (ns < 999.5e3)
    std::snprintf(text, sizeof text, "%.3g us", ns / 1e3);
  else if (ns < 999.5e6)
    std::snprintf(text, sizeof text, "%.3g ms", ns / 1e6);
  else
    std::snprintf(text, sizeof text, "%.3g s", ns / 1e9);
  return text;
}

std::string bytes_text(double bytes) {
  char text[32];
  if (bytes < 1e3)
    std::snprintf(text, sizeof text, "%.0f bytes", bytes);
  else if (bytes < 999.5e3)
    std::snprintf(text, sizeof text, "%.3g KB", bytes / 1e3);
  else
    std::snprintf(text, sizeof text, "%.3g MB", bytes / 1e6);
  return text;
}

class explainer {
public:
  explainer(const device_list& devices, const place_options& options,
            const std::vector<int>& chosen, const std::vector<int>& first_worker,
            const placement_grounds& grounds)
      : devices_(devices), options_(options), chosen_(chosen), first_worker_(first_worker),
        grounds_(grounds) {}

  std::string reason_for(const node& placed) const {
    auto set = static_cast<size_t>(grounds_.sets.set_of(placed));
    const auto& answer = grounds_.answers[set];
    auto request = placed.device().empty()
                       ? std::string{}
                       : concat("asked for '", plain_device(placed.device()), '\'');
    auto link_reason = grounds_.sets.reason_of(placed);
    if (answer.moved_to_host)
      return join(request, "the GPU cannot run it or a node of its set: on the host of the GPU");
    if (answer.request_replaced)
      return join(request, "no such device can run it: on the nearest device");
    if (link_reason.kind == colocation_reason::state)
      return join(request, concat("with the state of '", link_reason.other->name(), '\''));
    if (link_reason.kind == colocation_reason::group)
      return join(request, concat("colocated with '", link_reason.other->name(), '\''));
    if (internal_ops::is_constant(placed) && placed.controls().empty())
      return join(request, "a constant, copied to where it is used");
    const auto& asked = grounds_.sets.all()[set].asked;
    if (asked.is_complete())
      return request.empty() ? concat("others of its set ask for '", asked, '\'') : request;
    if (answer.candidates->size() == 1)
      return join(request, "the only device that can run it");
    return join(request, choice_of(placed));
  }

private:
  static std::string join(const std::string& request, std::string reason) {
    return request.empty() ? reason : concat(request, "; ", reason);
  }

  const device_name& device(int i) const { return devices_[static_cast<size_t>(i)]; }

  std::string choice_of(const node& placed) const {
    auto id = placed.index();
    auto device_index = chosen_[id];
    if (options_.by_cost && kind_of(device(device_index)) != kind_of(device(first_worker_[id])))
      return "the processor takes less time than the GPU, with all copies";
    if (!grounds_.decisions.empty() && grounds_.decisions[id].best_ns > 0 &&
        grounds_.decisions[id].next >= 0) {
      const auto& costs = grounds_.decisions[id];
      return concat("cheapest: done after ", time_text(costs.best_ns), ", on ", device(costs.next),
                    " after ", time_text(costs.next_ns));
    }
    if (grounds_.greedy_was_worse)
      return "the first that can run it: others would not make the step shorter";
    return !grounds_.decisions.empty()
               ? "the first that can run it: it has or uses state, and stays there in all steps"
               : "the first that can run it";
  }

  const device_list& devices_;
  const place_options& options_;
  const std::vector<int>& chosen_;
  const std::vector<int>& first_worker_;
  const placement_grounds& grounds_;
};

} // namespace

placement_report explain(const graph& placed, const device_list& devices,
                         const place_options& options, const std::vector<int>& chosen,
                         const std::vector<int>& first_worker, const placement_grounds& grounds) {
  placement_report report;
  report.strategy = options.strategy == placement_strategy::greedy ? "greedy" : "first worker";
  auto run = simulate(placed, devices, options, chosen);
  report.total_ns = run.total_ns;
  report.first_worker_ns = simulate(placed, devices, options, first_worker).total_ns;
  report.links = std::move(run.links);
  explainer words{devices, options, chosen, first_worker, grounds};
  for (const auto& node : placed.nodes()) {
    placed_node entry{.node = node->name(), .op = std::string{node->op().name}};
    entry.end_ns = run.end_ns[node->index()];
    if (auto device = chosen[node->index()]; device >= 0) {
      entry.device = to_string(devices[static_cast<size_t>(device)]);
      entry.reason = words.reason_for(*node);
    } else {
      entry.reason = &node->op() == &internal_ops::feed ? "fed; goes to all that read it"
                                                        : "fetched from where it is made";
    }
    report.nodes.push_back(std::move(entry));
  }
  return report;
}

std::string to_string(const placement_report& report) {
  std::string text;
  for (const auto& entry : report.nodes)
    text += concat(entry.op, " '", entry.node, "' ", entry.device.empty() ? "" : "on ",
                   entry.device, entry.device.empty() ? "" : ": ", entry.reason, '\n');
  text += concat("strategy: ", report.strategy, "; a step is expected to take ",
                 time_text(report.total_ns));
  if (report.strategy != "first worker")
    text += concat(" (", time_text(report.first_worker_ns), " by first worker)");
  text += '\n';
  for (const auto& link : report.links)
    text += concat("from ", link.from, " to ", link.to, ": ", link.tensors,
                   link.tensors == 1 ? " message, " : " messages, ", bytes_text(link.bytes), '\n');
  return text;
}

} // namespace troupe
