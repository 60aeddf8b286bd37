#include "troupe/actors/session/hosted_step.hpp"

#include "troupe/runtime/passes/extract.hpp"
#include "troupe/runtime/types/held_bytes.hpp"
#include "troupe/serialization/wire/payload.hpp"
#include "troupe/serialization/wire/wire.hpp"

#include <algorithm>
#include <array>

namespace troupe {
namespace {

constexpr size_t max_edges = 65'536; // that are fed, or fetched

// What passes and placement put into graphs, after this.
bool is_made_later(std::string_view op) {
  constexpr std::array begins{"_Send", "_Recv", "_Frame", "_Read", "_Swap"};
  return (op.starts_with('_') && op.ends_with("Argument")) ||
         std::ranges::any_of(begins, [&](const char* one) { return op.starts_with(one); });
}

template <class Take>
void each_feed(const graph& of, Take take) {
  for (const auto& node : of.nodes())
    if (node->op().name == "_Feed")
      take(*node, static_cast<size_t>(node->attr<int64_t>("index")));
}

status read_feeds(const graph& of, step_interface& into) {
  std::vector<bool> found(into.feeds.size());
  status outcome;
  each_feed(of, [&](const node& at, size_t index) {
    if (index >= found.size() || found[index]) {
      outcome = invalid(at.description(), " is feed ", index, " of ", found.size(),
                        index < found.size() ? ", as another is" : "");
      return;
    }
    found[index] = true;
    into.feeds[index] = {at.description(), at.output_type(0), at.output_shape(0)};
  });
  return outcome;
}

status read_fetches(const graph& of, step_interface& into) {
  std::vector<bool> found(of.nodes().size());
  for (const auto& node : of.nodes())
    if (node->op().name == "_Fetch") {
      auto index = static_cast<size_t>(node->attr<int64_t>("index"));
      if (index >= found.size() || found[index])
        return invalid(node->description(), " is fetch ", index, ", which cannot be");
      found[index] = true;
      ++into.fetches;
    }
  if (into.fetches > max_edges)
    return invalid("a step has at most ", max_edges, " fetches, this one ", into.fetches);
  if (std::find(found.begin(), found.end(), false) - found.begin() !=
      static_cast<std::ptrdiff_t>(into.fetches))
    return invalid("of the step's ", into.fetches, " fetches, some are missing");
  return {};
}

} // namespace

result<session_prepare> to_wire(const prepare_request& what, const node_times* measured) {
  const auto& nodes = *what.of->nodes;
  if (what.outside.feeds.size() > max_edges)
    return invalid("a step has at most ", max_edges, " feeds, this one ",
                   what.outside.feeds.size());
  session_prepare made{.feeds = static_cast<uint32_t>(what.outside.feeds.size()),
                       .low_priority = what.low_priority,
                       .retried = what.retried};
  TROUPE_ASSIGN(made.graph, write_graph(nodes));
  for (const auto* target : what.of->targets)
    made.targets.push_back(target ? target->name() : std::string{});
  std::erase(made.targets, ""); // a placeholder that is fed
  if (measured && !measured->empty())
    for (const auto& node : nodes.nodes())
      if (auto known = measured->find(node->name(), what.outside.graph))
        made.costs.push_back(*std::move(known));
  return made;
}

std::vector<bool> needed_feeds(const prepare_request& what) {
  std::vector<bool> found(what.outside.feeds.size());
  each_feed(*what.of->nodes, [&](const node&, size_t index) { found[index] = true; });
  return found;
}

result<prepare_request> from_wire(const session_prepare& what, const registry& ops,
                                  step_clock::time_point deadline) {
  if (what.feeds > max_edges)
    return invalid("a step has at most ", max_edges, " feeds, this one ", what.feeds);
  auto step = std::make_shared<step_graph>();
  step->nodes = std::make_unique<graph>(ops);
  TROUPE_TRY(read_graph(bytes_of(what.graph), *step->nodes));
  for (const auto& node : step->nodes->nodes())
    if (is_made_later(node->op().name))
      return invalid(node->description(), ": a step that is to be prepared has no such node");
  prepare_request made{.of = step,
                       .outside = {},
                       .deadline = deadline,
                       .low_priority = what.low_priority,
                       .knows = all_losses}; // its runs say which
  made.costs = what.costs;
  made.retried = what.retried;
  // Those that the graph does not need are fed with nothing.
  made.outside.feeds.assign(
      what.feeds, {"an unused feed", dtype::none, partial_shape::unknown()}); // no memory each
  made.outside.graph = step->nodes->id();
  TROUPE_TRY(read_feeds(*step->nodes, made.outside));
  TROUPE_TRY(read_fetches(*step->nodes, made.outside));
  for (const auto& name : what.targets) {
    auto* target = step->nodes->find(name);
    if (!target)
      return invalid("the step has no node '", name, "', which is to be run");
    step->targets.push_back(target);
  }
  if (made.outside.fetches == 0 && step->targets.empty())
    return invalid("there is nothing to fetch and no target to run");
  return made;
}

uint64_t held_bytes(const session_prepare& what) {
  auto bytes = held_bytes(what.graph) + what.feeds * sizeof(step_interface::fed);
  for (const auto& one : what.targets)
    bytes += sizeof one + one.size();
  for (const auto& one : what.costs)
    bytes += sizeof one + one.node.size() + one.device.size();
  return bytes;
}

} // namespace troupe
