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

// Another order may delay what others wait for: it must save a part of the peak that is worth it.
constexpr double worth_it = 0.95;

// What running the node adds to live memory. Constants and variables are there anyway.
int64_t bytes_made(const node& node) {
  if (node.op().makes != resource::none || (is_pure(node) && node.inputs().empty()))
    return 0;
  int64_t bytes = 0;
  for (int i = 0; i < node.outputs(); ++i)
    if (!node.output_is_ref(i))
      bytes += estimated_bytes(node.output_type(i), node.output_shape(i));
  return bytes;
}

// Who reads whose outputs, each once, and who must come after whom for any reason.
struct dependence {
  explicit dependence(const graph& of)
      : reads(of.nodes().size()), readers(of.nodes().size()), after(of.nodes().size()),
        waits_for(of.nodes().size(), 0), bytes(of.nodes().size()) {
    for (const auto& node : of.nodes()) {
      auto id = node->index();
      bytes[id] = bytes_made(*node);
      for (const auto& input : node->inputs())
        reads[id].push_back(input.node->index());
      std::ranges::sort(reads[id]);
      auto twice = std::ranges::unique(reads[id]);
      reads[id].erase(twice.begin(), twice.end());
      for (auto from : reads[id]) {
        readers[from].push_back(id);
        order(from, id);
      }
      for (auto* before : node->controls())
        order(before->index(), id);
      keep_effects_in_order(*node);
    }
  }

  std::vector<std::vector<size_t>> reads, readers, after;
  std::vector<int> waits_for;
  std::vector<int64_t> bytes;

private:
  // Of one variable, queue or table: the last that changed it, and who has looked at it since.
  struct accesses {
    size_t last_change = SIZE_MAX;
    std::vector<size_t> looks = {};
  };

  void order(size_t before, size_t later) {
    after[before].push_back(later);
    ++waits_for[later];
  }

  void change(accesses& of, size_t by) {
    if (of.last_change != SIZE_MAX)
      order(of.last_change, by);
    for (auto one : of.looks)
      order(one, by);
    of = {by, {}};
  }

  // The graph may leave the order of a read and an update open. It was this one so far, and stays.
  void keep_effects_in_order(const node& node) {
    bool on_resource = false;
    for (const auto& access : accesses_of(node)) {
      auto& of = state_[access.state];
      on_resource = true;
      if (access.updates && of.last_change != node.index()) {
        change(of, node.index());
      } else if (of.last_change != node.index()) {
        if (of.last_change != SIZE_MAX)
          order(of.last_change, node.index());
        of.looks.push_back(node.index());
      }
    }
    bool internal = std::ranges::find(internal_ops::all, &node.op()) != std::end(internal_ops::all);
    if (!on_resource && !internal && node.op().makes == resource::none &&
        has(node.op().effects, effect::stateful | effect::blocking) &&
        !has(node.op().effects, effect::random))
      change(others_, node.index());
  }

  std::map<const node*, accesses> state_;
  accesses others_; // effects on the world outside
};

int64_t peak_of(const dependence& in, const std::vector<size_t>& order) {
  std::vector<size_t> left(order.size());
  for (size_t i = 0; i < left.size(); ++i)
    left[i] = in.readers[i].size();
  int64_t live = 0, peak = 0;
  for (auto at : order) {
    live += in.bytes[at];
    peak = std::max(peak, live);
    if (left[at] == 0)
      live -= in.bytes[at];
    for (auto from : in.reads[at])
      if (--left[from] == 0)
        live -= in.bytes[from];
  }
  return peak;
}

// Always runs what lets go of most, or else adds least.
std::vector<size_t> greedy_order(const dependence& in) {
  auto count = in.bytes.size();
  std::vector<size_t> left(count), order;
  std::vector<int> missing = in.waits_for;
  std::vector<int64_t> growth = in.bytes; // of live bytes, if the node were run now
  for (size_t i = 0; i < count; ++i)
    left[i] = in.readers[i].size();
  std::set<std::pair<int64_t, size_t>> ready;
  auto frees = [&](size_t reader, size_t value) {
    auto was_ready = ready.erase({growth[reader], reader}) > 0;
    growth[reader] -= in.bytes[value];
    if (was_ready)
      ready.emplace(growth[reader], reader);
  };
  std::vector<bool> done(count, false);
  for (size_t i = 0; i < count; ++i) {
    if (left[i] == 1)
      frees(in.readers[i].front(), i);
    if (missing[i] == 0)
      ready.emplace(growth[i], i);
  }
  while (!ready.empty()) {
    auto at = ready.begin()->second;
    ready.erase(ready.begin());
    done[at] = true;
    order.push_back(at);
    for (auto from : in.reads[at])
      if (--left[from] == 1)
        for (auto reader : in.readers[from]) // once for each value
          if (!done[reader])
            frees(reader, from);
    for (auto later : in.after[at])
      if (--missing[later] == 0)
        ready.emplace(growth[later], later);
  }
  return order;
}

std::vector<size_t> present_order(size_t count) {
  std::vector<size_t> order(count);
  for (size_t i = 0; i < count; ++i)
    order[i] = i;
  return order;
}

} // namespace

int64_t estimated_peak(const graph& of) {
  return peak_of(dependence{of}, present_order(of.nodes().size()));
}

void schedule_for_memory(step_graph& of) {
  dependence known{*of.nodes};
  auto before = peak_of(known, present_order(of.nodes->nodes().size()));
  auto better = greedy_order(known);
  if (better.size() != of.nodes->nodes().size() ||
      static_cast<double>(peak_of(known, better)) > worth_it * static_cast<double>(before))
    return;
  std::vector<node*> order;
  for (auto id : better)
    order.push_back(of.nodes->nodes()[id].get());
  rewriter::reorder(*of.nodes, order);
}

} // namespace troupe
