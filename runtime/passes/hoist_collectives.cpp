#include "troupe/runtime/graph/accesses.hpp"
#include "troupe/runtime/graph/collective.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/passes/passes.hpp"
#include "troupe/runtime/passes/rewriter.hpp"

#include <algorithm>

namespace troupe {
namespace {

// What brings others a tensor that they may wait for.
bool begins_exchange(const node& at) {
  const auto* op = &at.op();
  return is_collective(*op) || op == &internal_ops::send || op == &internal_ops::send_control ||
         op == &internal_ops::pieces;
}

// How far before an exchange nodes are that are for it alone, and move with it: such as those
// that pack gradients. A whole network may serve nothing but exchanges.
constexpr int max_distance = 2;

class starter {
public:
  explicit starter(step_graph& of)
      : of_(of), readers_(of.nodes->nodes().size()), missing_(readers_.size()),
        early_(readers_.size(), false), distance_(readers_.size(), 0) {
    for (const auto& node : of.nodes->nodes()) {
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
    for (auto constants : {true, false}) // those that are for exchanges alone come first
      for (const auto& node : of_.nodes->nodes()) {
        auto needs_nothing = node->inputs().empty() && node->controls().empty();
        if (constants ? early_[node->index()] && needs_nothing : !early_[node->index()])
          emit(*node);
      }
    rewriter::reorder(*of_.nodes, order_);
  }

private:
  // Exchanges, and what is computed for nothing else.
  bool find_early() {
    const auto& nodes = of_.nodes->nodes();
    auto any = false;
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
      const auto& at = **it;
      const auto& readers = readers_[at.index()];
      auto begins = begins_exchange(at);
      auto needs_nothing = at.inputs().empty() && at.controls().empty();
      auto serves_it = [&](const node* one) {
        auto is_near = needs_nothing || distance_[one->index()] < max_distance;
        return early_[one->index()] && is_near;
      };
      auto serves = is_pure(at) && !readers.empty() && std::ranges::all_of(readers, serves_it) &&
                    std::ranges::find(of_.targets, &at) == of_.targets.end();
      early_[at.index()] = !uses_state(at) && (begins || serves);
      for (const auto* one : readers)
        if (!begins)
          distance_[at.index()] = std::max(distance_[at.index()], distance_[one->index()] + 1);
      any = any || early_[at.index()];
    }
    return any;
  }

  // A node, and what has waited for it alone.
  void emit(node& first) {
    std::vector<node*> ready{&first};
    while (!ready.empty()) {
      auto* at = ready.back();
      ready.pop_back();
      order_.push_back(at);
      for (auto* reader : readers_[at->index()])
        if (--missing_[reader->index()] == 0 && early_[reader->index()])
          ready.push_back(reader);
    }
  }

  step_graph& of_;
  std::vector<std::vector<node*>> readers_; // by node id, as often as they depend on it
  std::vector<size_t> missing_;             // by node id: what is not in the order yet
  std::vector<bool> early_;                 // by node id
  std::vector<int> distance_;               // by node id, from the exchange that it is for
  std::vector<node*> order_;
};

} // namespace

void hoist_collectives(step_graph& of) { starter{of}.run(); }

} // namespace troupe
