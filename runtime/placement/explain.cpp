#include "troupe/runtime/placement/explain.hpp"

#include "troupe/runtime/device/preferred_device.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"

#include <algorithm>
#include <cstdio>

namespace troupe {
namespace {

// Three digits are more than the model knows.
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
  explainer(const device_list& devices, const placing& how, const std::vector<int>& chosen,
            const std::vector<int>& first_worker, const placement_grounds& why)
      : devices_(devices), how_(how), chosen_(chosen), first_worker_(first_worker), why_(why) {}

  std::string reason_for(const node& one) const {
    auto set = static_cast<size_t>(why_.sets.set_of(one));
    const auto& answer = why_.answers[set];
    auto own = one.device().empty() ? std::string{}
                                    : concat("asked for '", plain_device(one.device()), '\'');
    auto bond = why_.sets.reason_of(one);
    if (answer.moved)
      return join(own, "a GPU that cannot run it, or what it is placed with; beside that");
    if (answer.softened)
      return join(own, "there is no such device for it; the nearest that there is");
    if (bond.kind == bond::state)
      return join(own, concat("with the state of '", bond.with->name(), '\''));
    if (bond.kind == bond::group)
      return join(own, concat("colocated with '", bond.with->name(), '\''));
    if (internal_ops::is_constant(one) && one.controls().empty())
      return join(own, "a constant, copied to where it is used");
    const auto& asked = why_.sets.all()[set].asked;
    if (asked.whole())
      return own.empty() ? concat("others of its set ask for '", asked, '\'') : own;
    if (answer.open->size() == 1)
      return join(own, "the only device that can run it");
    return join(own, choice_of(one));
  }

private:
  static std::string join(const std::string& own, std::string other) {
    return own.empty() ? other : concat(own, "; ", other);
  }

  const device_name& device(int i) const { return devices_[static_cast<size_t>(i)]; }

  std::string choice_of(const node& one) const {
    auto id = one.index();
    auto here = chosen_[id];
    if (how_.by_cost && kind_of(device(here)) != kind_of(device(first_worker_[id])))
      return "the processor takes less time than the GPU, with all copies";
    if (!why_.decisions.empty() && why_.decisions[id].best_ns > 0 && why_.decisions[id].next >= 0) {
      const auto& how = why_.decisions[id];
      return concat("cheapest: done after ", time_text(how.best_ns), ", on ", device(how.next),
                    " after ", time_text(how.next_ns));
    }
    if (why_.greedy_was_worse)
      return "the first that can run it: others would not make the step shorter";
    return !why_.decisions.empty()
               ? "the first that can run it: it has or uses state, and stays there in all steps"
               : "the first that can run it";
  }

  const device_list& devices_;
  const placing& how_;
  const std::vector<int>& chosen_;
  const std::vector<int>& first_worker_;
  const placement_grounds& why_;
};

} // namespace

placement_report explain(const graph& of, const device_list& devices, const placing& how,
                         const std::vector<int>& chosen, const std::vector<int>& first_worker,
                         const placement_grounds& why) {
  placement_report made;
  made.strategy = how.strategy == placement_strategy::greedy ? "greedy" : "first worker";
  auto run = simulate(of, devices, how, chosen);
  made.total_ns = run.total_ns;
  made.first_worker_ns = simulate(of, devices, how, first_worker).total_ns;
  made.links = std::move(run.links);
  explainer words{devices, how, chosen, first_worker, why};
  for (const auto& node : of.nodes()) {
    placed_node one{.node = node->name(), .op = std::string{node->op().name}};
    one.end_ns = run.end_ns[node->index()];
    if (auto where = chosen[node->index()]; where >= 0) {
      one.device = to_string(devices[static_cast<size_t>(where)]);
      one.why = words.reason_for(*node);
    } else {
      one.why = &node->op() == &internal_ops::feed ? "fed; goes to all that read it"
                                                   : "fetched from where it is made";
    }
    made.nodes.push_back(std::move(one));
  }
  return made;
}

std::string to_string(const placement_report& what) {
  std::string text;
  for (const auto& one : what.nodes)
    text += concat(one.op, " '", one.node, "' ", one.device.empty() ? "" : "on ", one.device,
                   one.device.empty() ? "" : ": ", one.why, '\n');
  text += concat("strategy: ", what.strategy, "; a step is expected to take ",
                 time_text(what.total_ns));
  if (what.strategy != "first worker")
    text += concat(" (", time_text(what.first_worker_ns), " by first worker)");
  text += '\n';
  for (const auto& one : what.links)
    text += concat("from ", one.from, " to ", one.to, ": ", one.tensors,
                   one.tensors == 1 ? " message, " : " messages, ", bytes_text(one.bytes), '\n');
  return text;
}

} // namespace troupe
