#include "troupe/runtime/graph/accesses.hpp"
#include "troupe/runtime/graph/collective.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/passes/passes.hpp"
#include "troupe/runtime/passes/rewriter.hpp"

#include <algorithm>

namespace troupe {
namespace {

// Returns whether a node starts communication, so that other devices may wait for its tensor.
bool starts_communication(const node& candidate) {
  const auto* op = &candidate.op();
  return is_collective(*op) || op == &internal_ops::send || op == &internal_ops::send_control ||
         op == &internal_ops::pieces;
}

// Nodes that serve only communication move with it, such as nodes that pack gradients. This is the
// largest distance of such a node. Without a limit, a whole network could move.
constexpr int max_distance = 2;

class early_order_builder {
public:
  explicit early_order_builder(step_graph& step)
      : step_(step), readers_(step.nodes->nodes().size()), missing_(readers_.size()),
        early_(readers_.size(), false), distance_(readers_.size(), 0) {
    for (const auto& node : step.nodes->nodes()) {
      for (const auto& input : node->inputs())
        readers_[input.node->index()].push_back(node.get());
      for (auto* before : node->controls())
        readers_[before->index()].push_back(node.get());
      missing_[node->index()] = node->inputs().size() + node->controls().size();
    }
  }

  void run() {
    if (!find_early())
      return;
    for (auto constants : {true, false}) // first the constants that serve only communication
      for (const auto& node : step_.nodes->nodes()) {
        auto has_no_inputs = node->inputs().empty() && node->controls().empty();
        if (constants ? early_[node->index()] && has_no_inputs : !early_[node->index()])
          emit(*node);
      }
    rewriter::reorder(*step_.nodes, order_);
  }

private:
  // Finds the nodes that start communication and the nodes that serve only these.
  bool find_early() {
    const auto& nodes = step_.nodes->nodes();
    auto has_early = false;
    for (auto position = nodes.rbegin(); position != nodes.rend(); ++position) {
      const auto& candidate = **position;
      const auto& readers = readers_[candidate.index()];
      auto communicates = starts_communication(candidate);
      auto has_no_inputs = candidate.inputs().empty() && candidate.controls().empty();
      auto is_served = [&](const node* reader) {
        auto is_near = has_no_inputs || distance_[reader->index()] < max_distance;
        return early_[reader->index()] && is_near;
      };
      auto is_serving = is_pure(candidate) && !readers.empty() &&
                        std::ranges::all_of(readers, is_served) &&
                        std::ranges::find(step_.targets, &candidate) == step_.targets.end();
      early_[candidate.index()] = !uses_state(candidate) && (communicates || is_serving);
      for (const auto* reader : readers)
        if (!communicates)
          distance_[candidate.index()] =
              std::max(distance_[candidate.index()], distance_[reader->index()] + 1);
      has_early = has_early || early_[candidate.index()];
    }
    return has_early;
  }

  // Adds a node to the order, and then the early nodes whose dependencies are complete.
  void emit(node& first) {
    std::vector<node*> ready{&first};
    while (!ready.empty()) {
      auto* current = ready.back();
      ready.pop_back();
      order_.push_back(current);
      for (auto* reader : readers_[current->index()])
        if (--missing_[reader->index()] == 0 && early_[reader->index()])
          ready.push_back(reader);
    }
  }

  step_graph& step_;
  std::vector<std::vector<node*>> readers_; // by node id, once for each dependency
  std::vector<size_t> missing_;             // by node id: dependencies that are not in the order
  std::vector<bool> early_;                 // by node id
  std::vector<int> distance_;               // by node id, to the communication that it serves
  std::vector<node*> order_;
};

} // namespace

void hoist_collectives(step_graph& step) { early_order_builder{step}.run(); }

} // namespace troupe
