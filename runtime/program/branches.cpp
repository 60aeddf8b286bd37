#include "troupe/runtime/program/branches.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace troupe {
namespace {

constexpr uint32_t no_node = UINT32_MAX;
// More parallelism than a task has threads only costs planning time.
constexpr uint32_t max_groups = 512;
// A result that is ready before this fraction of a heavy branch has passed counts as ready from the
// start: constants and shapes are needed everywhere, and would connect unrelated branches.
constexpr double early_fraction = 1.0 / 8;
// The number of dispatches that a node must cost before a device splits it over its threads.
constexpr double dispatches_to_split = 10;

// The dominator tree of the nodes of one base region: the parent of a node is the last node that
// all paths to it share. The root is no node.
class dominator_tree {
public:
  explicit dominator_tree(size_t nodes) : up_(nodes), jump_(nodes), depth_(nodes, 0) {}

  // Nodes must come after their parents.
  void add_node(uint32_t node, uint32_t parent_node) {
    up_[node] = parent_node;
    depth_[node] = depth_of(parent_node) + 1;
    auto far = jump_of(parent_node);
    jump_[node] = depth_of(parent_node) - depth_of(far) == depth_of(far) - depth_of(jump_of(far))
                      ? jump_of(far)
                      : parent_node;
  }
  uint32_t parent(uint32_t node) const { return up_[node]; }
  uint32_t depth_of(uint32_t node) const { return node == no_node ? 0 : depth_[node]; }

  // Returns the ancestor (or the node itself) at a depth that is not below it.
  uint32_t at_depth(uint32_t node, uint32_t depth) const {
    while (depth_of(node) > depth)
      node = depth_of(jump_of(node)) >= depth ? jump_of(node) : up_[node];
    return node;
  }

  // Returns the last node that is an ancestor of both.
  uint32_t meet(uint32_t a, uint32_t b) const {
    if (depth_of(a) > depth_of(b))
      std::swap(a, b);
    b = at_depth(b, depth_of(a));
    while (a != b) {
      bool far = jump_of(a) != jump_of(b);
      a = far ? jump_of(a) : up_[a];
      b = far ? jump_of(b) : up_[b];
    }
    return a;
  }

private:
  uint32_t jump_of(uint32_t node) const { return node == no_node ? no_node : jump_[node]; }

  std::vector<uint32_t> up_, jump_, depth_; // jumps: far ancestors, for logarithmic path lengths
};

class branch_finder {
public:
  branch_finder(const graph& step_graph, const std::vector<uint32_t>& base,
                const region_options& options)
      : graph_(step_graph), base_(base), workers_(static_cast<size_t>(options.workers)),
        min_cost_(min_dispatch_cost(options)),
        max_cost_(options.nodes_use_all_threads ? dispatches_to_split * options.dispatch_ns
                                                : 1e300),
        tree_(step_graph.nodes().size()), cost_(step_graph.nodes().size()),
        done_at_(step_graph.nodes().size(), 0), groups_(step_graph.nodes().size(), 0) {
    for (const auto& node : step_graph.nodes())
      add(*node, options.measured);
  }

  std::vector<uint32_t> run() {
    // The cost of a branch is the sum over its parts.
    for (size_t id = cost_.size(); id-- > 0;)
      if (auto parent = tree_.parent(static_cast<uint32_t>(id)); parent != no_node)
        cost_[parent] += cost_[id];
    std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>>
        siblings; // by parent; roots by region
    for (uint32_t id = 0; id < cost_.size(); ++id) {
      auto parent = tree_.parent(id);
      siblings[{parent, parent == no_node ? base_[id] : 0}].push_back(id);
    }
    for (const auto& [parent, children] : siblings)
      if (std::ranges::count_if(children, [&](uint32_t id) { return is_heavy(id); }) > 1)
        split(children);
    return std::move(groups_);
  }

private:
  bool is_heavy(uint32_t id) const { return cost_[id] >= min_cost_; }

  // Visits the nodes of the same region that a node waits for.
  template <class Visit>
  void visit_predecessors(const node& n, Visit visit) const {
    auto consider = [&](const node& before) {
      auto id = static_cast<size_t>(before.id());
      if (!needs_no_run(before) && base_[id] == base_[static_cast<size_t>(n.id())] &&
          done_at_[id] > early_fraction * min_cost_)
        visit(static_cast<uint32_t>(id));
    };
    for (const auto& input : n.inputs())
      consider(*input.node);
    for (const auto* before : n.controls())
      consider(*before);
  }

  void add(const node& n, const node_times* measured) {
    auto id = static_cast<uint32_t>(n.id());
    bool first = true;
    uint32_t parent = no_node;
    visit_predecessors(n, [&](uint32_t before) {
      parent = first ? before : tree_.meet(parent, before);
      first = false;
    });
    tree_.add_node(id, parent);
    auto cost = needs_no_run(n) ? 0 : expected_nanoseconds(n, measured);
    cost_[id] = cost < max_cost_ ? cost : 0;
    double begin = 0;
    auto wait_for = [&](const node& before) {
      begin = std::max(begin, done_at_[static_cast<size_t>(before.id())]);
    };
    for (const auto& input : n.inputs())
      wait_for(*input.node);
    for (const auto* before : n.controls())
      wait_for(*before);
    done_at_[id] = begin + cost;
  }

  // Siblings that wait for equally many heavy siblings can run at the same time.
  void split(const std::vector<uint32_t>& children) {
    auto level = tree_.depth_of(children.front());
    std::map<uint32_t, size_t> rank_after;
    std::map<size_t, std::vector<uint32_t>> heavy_at;
    for (auto id : children) {
      size_t rank = 0;
      visit_predecessors(*graph_.nodes()[id], [&](uint32_t before) {
        if (tree_.depth_of(before) >= level)
          rank = std::max(rank, rank_after[tree_.at_depth(before, level)]);
      });
      if (is_heavy(id) && !has(graph_.nodes()[id]->op().effects, effect::blocking))
        heavy_at[rank++].push_back(id);
      rank_after[id] = rank;
    }
    for (auto& [rank, siblings] : heavy_at)
      if (siblings.size() > 1 && count_ < max_groups)
        pack(siblings);
  }

  // Distributes the branches to the workers, each to the worker with the least load.
  void pack(std::vector<uint32_t>& branches) {
    std::ranges::stable_sort(branches, std::greater{}, [&](uint32_t id) { return cost_[id]; });
    std::vector<double> load(std::min(workers_, branches.size()), 0);
    for (auto id : branches) {
      auto worker = std::ranges::min_element(load);
      *worker += cost_[id];
      groups_[id] = count_ + 1 + static_cast<uint32_t>(worker - load.begin());
    }
    count_ += static_cast<uint32_t>(load.size());
  }

  const graph& graph_;
  const std::vector<uint32_t>& base_;
  size_t workers_;
  double min_cost_, max_cost_;
  dominator_tree tree_;
  std::vector<double> cost_, done_at_;
  std::vector<uint32_t> groups_;
  uint32_t count_ = 0;
};

} // namespace

std::vector<uint32_t> find_branches(const graph& step_graph, const std::vector<uint32_t>& base,
                                    const region_options& options) {
  return branch_finder{step_graph, base, options}.run();
}

} // namespace troupe
