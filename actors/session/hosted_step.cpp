#include "troupe/actors/session/hosted_step.hpp"

#include "troupe/runtime/passes/extract.hpp"
#include "troupe/runtime/types/held_bytes.hpp"
#include "troupe/serialization/wire/payload.hpp"
#include "troupe/serialization/wire/wire.hpp"

#include <algorithm>
#include <array>

namespace troupe {
namespace {

constexpr size_t max_edges = 65'536; // feeds or fetches of a step

// Passes and placement add these ops; a client's graph must not have them.
bool is_added_by_passes(std::string_view op) {
  constexpr std::array prefixes{"_Send", "_Recv", "_Frame", "_Read", "_Swap"};
  return (op.starts_with('_') && op.ends_with("Argument")) ||
         std::ranges::any_of(prefixes, [&](const char* prefix) { return op.starts_with(prefix); });
}

template <class Take>
void each_feed(const graph& nodes, Take take) {
  for (const auto& node : nodes.nodes())
    if (node->op().name == "_Feed")
      take(*node, static_cast<size_t>(node->attr<int64_t>("index")));
}

status read_feeds(const graph& nodes, step_interface& into) {
  std::vector<bool> is_set(into.feeds.size());
  status outcome;
  each_feed(nodes, [&](const node& feed_node, size_t index) {
    if (index >= is_set.size() || is_set[index]) {
      outcome =
          invalid(feed_node.description(), " has the feed index ", index,
                  index < is_set.size() ? ", which another node has already"
                                        : concat(", but the step has ", is_set.size(), " feeds"));
      return;
    }
    is_set[index] = true;
    into.feeds[index] = {feed_node.description(), feed_node.output_type(0),
                         feed_node.output_shape(0)};
  });
  return outcome;
}

status read_fetches(const graph& nodes, step_interface& into) {
  std::vector<bool> is_set(nodes.nodes().size());
  for (const auto& node : nodes.nodes())
    if (node->op().name == "_Fetch") {
      auto index = static_cast<size_t>(node->attr<int64_t>("index"));
      if (index >= is_set.size() || is_set[index])
        return invalid(node->description(), " has the fetch index ", index,
                       ", which is out of range or used twice");
      is_set[index] = true;
      ++into.fetches;
    }
  if (into.fetches > max_edges)
    return invalid("a step has at most ", max_edges, " fetches, this one ", into.fetches);
  if (std::find(is_set.begin(), is_set.end(), false) - is_set.begin() !=
      static_cast<std::ptrdiff_t>(into.fetches))
    return invalid("of the step's ", into.fetches, " fetches, some are missing");
  return {};
}

} // namespace

result<session_prepare> to_wire(const prepare_request& request, const node_times* measured) {
  const auto& nodes = *request.graph_copy->nodes;
  if (request.interface.feeds.size() > max_edges)
    return invalid("a step has at most ", max_edges, " feeds, this one ",
                   request.interface.feeds.size());
  session_prepare encoded{.feeds = static_cast<uint32_t>(request.interface.feeds.size()),
                          .low_priority = request.low_priority,
                          .retried = request.retried};
  TROUPE_ASSIGN(encoded.graph, write_graph(nodes));
  for (const auto* target : request.graph_copy->targets)
    encoded.targets.push_back(target ? target->name() : std::string{});
  std::erase(encoded.targets, ""); // fed placeholders
  if (measured && !measured->empty())
    for (const auto& node : nodes.nodes())
      if (auto known = measured->find(node->name(), request.interface.graph))
        encoded.costs.push_back(*std::move(known));
  return encoded;
}

std::vector<bool> needed_feeds(const prepare_request& request) {
  std::vector<bool> needed(request.interface.feeds.size());
  each_feed(*request.graph_copy->nodes, [&](const node&, size_t index) { needed[index] = true; });
  return needed;
}

result<prepare_request> from_wire(const session_prepare& received, const registry& ops,
                                  step_clock::time_point deadline) {
  if (received.feeds > max_edges)
    return invalid("a step has at most ", max_edges, " feeds, this one ", received.feeds);
  auto step = std::make_shared<step_graph>();
  step->nodes = std::make_unique<graph>(ops);
  TROUPE_TRY(read_graph(bytes_of(received.graph), *step->nodes));
  for (const auto& node : step->nodes->nodes())
    if (is_added_by_passes(node->op().name))
      return invalid(node->description(), ": a step that is to be prepared has no such node");
  prepare_request request{.graph_copy = step,
                          .interface = {},
                          .deadline = deadline,
                          .low_priority = received.low_priority,
                          // Each run names the losses that its client has handled.
                          .acknowledged_loss = all_losses};
  request.costs = received.costs;
  request.retried = received.retried;
  // Feeds that the graph does not need have no type.
  request.interface.feeds.assign(received.feeds,
                                 {"an unused feed", dtype::none, partial_shape::unknown()});
  request.interface.graph = step->nodes->id();
  TROUPE_TRY(read_feeds(*step->nodes, request.interface));
  TROUPE_TRY(read_fetches(*step->nodes, request.interface));
  for (const auto& name : received.targets) {
    auto* target = step->nodes->find(name);
    if (!target)
      return invalid("the step has no node '", name, "', which is to be run");
    step->targets.push_back(target);
  }
  if (request.interface.fetches == 0 && step->targets.empty())
    return invalid("there is nothing to fetch and no target to run");
  return request;
}

uint64_t held_bytes(const session_prepare& received) {
  auto bytes = held_bytes(received.graph) + received.feeds * sizeof(step_interface::feed_spec);
  for (const auto& target : received.targets)
    bytes += sizeof target + target.size();
  for (const auto& cost : received.costs)
    bytes += sizeof cost + cost.node.size() + cost.device.size();
  return bytes;
}

} // namespace troupe
