#include "troupe/runtime/graph/accesses.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/passes/estimated_bytes.hpp"
#include "troupe/runtime/passes/passes.hpp"
#include "troupe/runtime/passes/rewriter.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace troupe {
namespace {

// Another order may delay nodes that other devices wait for, so it must lower the peak
// substantially.
constexpr double max_peak_ratio = 0.95;

// Returns the live memory that running the node adds. Constants and variables are always live.
int64_t output_bytes(const node& node) {
  if (node.op().state_kind != resource::none || (is_pure(node) && node.inputs().empty()))
    return 0;
  int64_t bytes = 0;
  for (int i = 0; i < node.outputs(); ++i)
    if (!node.output_is_ref(i))
      bytes += estimated_bytes(node.output_type(i), node.output_shape(i));
  return bytes;
}

// The readers of each node's outputs, without duplicates, and all order constraints.
struct dependences {
  explicit dependences(const graph& source)
      : reads(source.nodes().size()), readers(source.nodes().size()), after(source.nodes().size()),
        predecessor_counts(source.nodes().size(), 0), bytes(source.nodes().size()) {
    for (const auto& node : source.nodes()) {
      auto id = node->index();
      bytes[id] = output_bytes(*node);
      for (const auto& input : node->inputs())
        reads[id].push_back(input.node->index());
      std::ranges::sort(reads[id]);
      auto duplicates = std::ranges::unique(reads[id]);
      reads[id].erase(duplicates.begin(), duplicates.end());
      for (auto predecessor : reads[id]) {
        readers[predecessor].push_back(id);
        order(predecessor, id);
      }
      for (auto* before : node->controls())
        order(before->index(), id);
      add_effects(*node);
    }
  }

  std::vector<std::vector<size_t>> reads, readers, after;
  std::vector<int> predecessor_counts;
  std::vector<int64_t> bytes;

private:
  // The last node that changed a variable, queue or table, and its readers since.
  struct accesses {
    size_t last_change = SIZE_MAX;
    std::vector<size_t> readers_since = {};
  };

  void order(size_t before, size_t later) {
    after[before].push_back(later);
    ++predecessor_counts[later];
  }

  void change(accesses& state, size_t changer) {
    if (state.last_change != SIZE_MAX)
      order(state.last_change, changer);
    for (auto reader : state.readers_since)
      order(reader, changer);
    state = {changer, {}};
  }

  // The graph may leave the order of a read and an update open. The current order is kept.
  void add_effects(const node& node) {
    bool accesses_state = false;
    for (const auto& access : accesses_of(node)) {
      auto& state = state_[access.state];
      accesses_state = true;
      if (access.updates && state.last_change != node.index()) {
        change(state, node.index());
      } else if (state.last_change != node.index()) {
        if (state.last_change != SIZE_MAX)
          order(state.last_change, node.index());
        state.readers_since.push_back(node.index());
      }
    }
    bool is_internal = std::ranges::find(internal_ops::definitions, &node.op()) !=
                       std::end(internal_ops::definitions);
    if (!accesses_state && !is_internal && node.op().state_kind == resource::none &&
        has(node.op().effects, effect::stateful | effect::blocking) &&
        !has(node.op().effects, effect::random))
      change(others_, node.index());
  }

  std::map<const node*, accesses> state_;
  accesses others_; // effects outside of the graph's state
};

int64_t peak_of(const dependences& known, const std::vector<size_t>& order) {
  std::vector<size_t> unread_counts(order.size());
  for (size_t i = 0; i < unread_counts.size(); ++i)
    unread_counts[i] = known.readers[i].size();
  int64_t live = 0, peak = 0;
  for (auto current : order) {
    live += known.bytes[current];
    peak = std::max(peak, live);
    if (unread_counts[current] == 0)
      live -= known.bytes[current];
    for (auto source : known.reads[current])
      if (--unread_counts[source] == 0)
        live -= known.bytes[source];
  }
  return peak;
}

// Always runs the ready node that frees most memory or else adds least.
std::vector<size_t> greedy_order(const dependences& known) {
  auto count = known.bytes.size();
  std::vector<size_t> unread_counts(count), order;
  std::vector<int> missing_counts = known.predecessor_counts;
  std::vector<int64_t> growth = known.bytes; // of live bytes if the node were run now
  for (size_t i = 0; i < count; ++i)
    unread_counts[i] = known.readers[i].size();
  std::set<std::pair<int64_t, size_t>> ready;
  auto reduce_growth = [&](size_t reader, size_t value) {
    auto was_ready = ready.erase({growth[reader], reader}) > 0;
    growth[reader] -= known.bytes[value];
    if (was_ready)
      ready.emplace(growth[reader], reader);
  };
  std::vector<bool> is_done(count, false);
  for (size_t i = 0; i < count; ++i) {
    if (unread_counts[i] == 1)
      reduce_growth(known.readers[i].front(), i);
    if (missing_counts[i] == 0)
      ready.emplace(growth[i], i);
  }
  while (!ready.empty()) {
    auto current = ready.begin()->second;
    ready.erase(ready.begin());
    is_done[current] = true;
    order.push_back(current);
    for (auto source : known.reads[current])
      if (--unread_counts[source] == 1)
        for (auto reader : known.readers[source]) // once for each value
          if (!is_done[reader])
            reduce_growth(reader, source);
    for (auto later : known.after[current])
      if (--missing_counts[later] == 0)
        ready.emplace(growth[later], later);
  }
  return order;
}

std::vector<size_t> current_order(size_t count) {
  std::vector<size_t> order(count);
  for (size_t i = 0; i < count; ++i)
    order[i] = i;
  return order;
}

} // namespace

int64_t estimated_peak(const graph& source) {
  return peak_of(dependences{source}, current_order(source.nodes().size()));
}

void schedule_for_memory(step_graph& step) {
  dependences constraints{*step.nodes};
  auto old_peak = peak_of(constraints, current_order(step.nodes->nodes().size()));
  auto new_order = greedy_order(constraints);
  if (new_order.size() != step.nodes->nodes().size() ||
      static_cast<double>(peak_of(constraints, new_order)) >
          max_peak_ratio * static_cast<double>(old_peak))
    return;
  std::vector<node*> ordered_nodes;
  for (auto id : new_order)
    ordered_nodes.push_back(step.nodes->nodes()[id].get());
  rewriter::reorder(*step.nodes, ordered_nodes);
}

} // namespace troupe
