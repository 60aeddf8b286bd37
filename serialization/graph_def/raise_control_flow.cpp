#include "troupe/serialization/graph_def/raise_control_flow.hpp"

#include "troupe/serialization/graph_def/input_name.hpp"
#include "troupe/serialization/graph_def/raise_branches.hpp"
#include "troupe/serialization/graph_def/raise_loops.hpp"

#include <algorithm>

namespace troupe::graph_def {
namespace {

constexpr int deepest_nest = 64;

// Reconnects the items after they moved to parts: values that leave a branch become its results,
// and values that enter a branch or loop become its inputs.
class connector {
public:
  connector(flow_graph& graph, int root) : graph_(graph), root_(root) {}

  status run() {
    depth_.assign(static_cast<size_t>(graph_.parts()), 0);
    results_.resize(depth_.size());
    for (int p = 0; p < graph_.parts(); ++p) {
      results_[static_cast<size_t>(p)].resize(graph_.part_at(p).results.size());
      TROUPE_TRY(find_depth(p));
    }
    name_inner();
    for (int p = 0; p < graph_.parts(); ++p) {
      if (depth(p) < 0)
        continue;
      for (size_t i = 0; i < graph_.part_at(p).items.size(); ++i)
        connect(graph_.part_at(p).items[i]);
      for (size_t i = 0; i < graph_.part_at(p).results.size(); ++i)
        results_[static_cast<size_t>(p)][i] = resolve(graph_.part_at(p).results[i], p, owner(p));
    }
    if (lost_ >= 0)
      return failure(error_kind::internal, graph_.described(lost_), " got lost");
    return {};
  }

  raised_name name(const stand_in& stand_in_of) {
    raised_name converted;
    converted.is_exclusive = stand_in_of.is_exclusive;
    for (const auto& output : stand_in_of.outputs)
      converted.outputs.push_back(graph_.named(resolve(output, root_, -1)));
    if (auto end = runs_as(stand_in_of.end); end >= 0)
      converted.end = graph_.at(lifted(end, root_)).def.name();
    return converted;
  }

  // Called after all names are converted, because these may add results.
  void write(int p, GraphDef& target, raised_graph& converted) {
    for (auto i : graph_.part_at(p).items) {
      NodeDef node_def = graph_.at(i).def;
      if (graph_.at(i).kind == flow::trigger)
        node_def.set_op("NoOp");
      for (const auto& input : inputs_[i])
        node_def.add_input(graph_.named(input));
      for (const auto& input : outer_[i])
        node_def.add_input(graph_.named(input));
      for (auto control : controls_[i])
        node_def.add_input("^" + graph_.at(control).def.name());
      if (!graph_.at(i).parts.empty())
        write_functions(i, converted);
      *target.add_node() = std::move(node_def);
    }
  }

private:
  int owner(int p) const { return graph_.part_at(p).owner; }
  int& depth(int p) { return depth_[static_cast<size_t>(p)]; }

  status find_depth(int p) {
    depth(p) = -1;
    if (!graph_.is_alive(p))
      return {};
    int nesting = 0;
    for (auto current = p; owner(current) >= 0 && nesting <= deepest_nest;
         current = graph_.at(owner(current)).part)
      ++nesting;
    depth(p) = nesting;
    if (nesting > deepest_nest)
      return failure(error_kind::unimplemented, graph_.described(owner(p)),
                     ": branches and loops are nested more than ", deepest_nest, " deep");
    return {};
  }

  // Renames nodes whose names could collide with those that a function adds.
  void name_inner() {
    for (int p = 0; p < graph_.parts(); ++p)
      if (depth(p) > 0)
        for (auto i : graph_.part_at(p).items)
          if (auto& def = graph_.at(i).def;
              def.name().starts_with("Const") || def.name().starts_with("argument_"))
            def.set_name(graph_.unique(concat(graph_.at(owner(p)).def.name(), '/', def.name())));
  }

  // Returns the producer of a value. Adds the control inputs of skipped items to `waits`.
  source behind(source value, std::set<int>* waits) const {
    for (;;) {
      value = graph_.behind_exits(value);
      const auto& from = graph_.at(value.item);
      if (from.kind == flow::switch_node) {
        if (waits)
          waits->insert(from.controls.begin(), from.controls.end());
        value = from.data[0];
      } else if (value.output == 1 && from.index.item >= 0) {
        value = from.index;
      } else if (from.kind == flow::pass) {
        if (waits)
          waits->insert(from.controls.begin(), from.controls.end());
        value = from.data[0];
      } else if (from.kind == flow::merge) {
        return {from.branch, from.slot};
      } else {
        return value;
      }
    }
  }

  bool is_within(int p, int outer) const {
    for (;; p = graph_.at(owner(p)).part) {
      if (p == outer)
        return true;
      if (owner(p) < 0)
        return false;
    }
  }

  // Makes a value within branches a result of them, up to a part where it can be read.
  source export_value(source value, int p) {
    while (!is_within(p, graph_.at(value.item).part)) {
      auto inner = graph_.at(value.item).part;
      auto branch = inner < 0 ? -1 : owner(inner);
      if (branch < 0 || graph_.at(branch).kind != flow::branch) {
        lost_ = value.item;
        return {root_item(), 0};
      }
      const auto& parts = graph_.at(branch).parts;
      auto [exported, is_new] = exported_.emplace(value, 0);
      if (is_new) {
        exported->second = static_cast<int>(results_[static_cast<size_t>(inner)].size());
        for (auto side : parts)
          results_[static_cast<size_t>(side)].push_back(side == inner ? value : source{});
      }
      value = {branch, exported->second};
    }
    return value;
  }

  // Any readable item, as a placeholder: run() reports the error.
  int root_item() const { return graph_.part_at(root_).items.front(); }

  // Resolves a value that a part reads; all branches and loops on the way take it as an input.
  source resolve(source value, int p, int reader) {
    if (value.item < 0 || value.output < 0)
      return {};
    std::set<int> waits;
    auto resolved = export_value(behind(value, &waits), p);
    for (auto current = p; current != graph_.at(resolved.item).part;
         current = graph_.at(owner(current)).part)
      outer_[owner(current)].insert(resolved);
    if (reader >= 0)
      for (auto waited : waits)
        add_wait(reader, waited);
    return resolved;
  }

  void connect(int i) {
    const auto p = graph_.at(i).part;
    const auto data = graph_.at(i).data;
    auto data_inputs = graph_.at(i).kind == flow::loop ? graph_.at(i).variables : data.size();
    std::vector<source> inputs;
    for (size_t k = 0; k < data_inputs; ++k)
      inputs.push_back(resolve(data[k], p, i));
    inputs_[i] = std::move(inputs);
    std::set<int> waits;
    for (size_t k = data_inputs; k < data.size(); ++k)
      behind(data[k], &waits);
    waits.insert(graph_.at(i).controls.begin(), graph_.at(i).controls.end());
    for (auto waited : waits)
      add_wait(i, waited);
  }

  // The item that runs in place of another; -1: none.
  int runs_as(int i) const {
    if (i < 0)
      return -1;
    i = graph_.behind_exits(i);
    switch (graph_.at(i).kind) {
      case flow::plain:
      case flow::trigger:
      case flow::branch:
      case flow::loop: return i;
      case flow::merge: return graph_.at(i).branch;
      case flow::switch_node:
      case flow::pass: return runs_as(behind({i, 0}, nullptr).item);
      default: return -1;
    }
  }

  int lifted(int i, int p) const {
    while (graph_.at(i).part != p)
      i = owner(graph_.at(i).part);
    return i;
  }

  void add_wait(int i, int input_item) {
    std::set<int> seen;
    std::vector<int> open{input_item};
    while (!open.empty()) {
      auto next = graph_.behind_exits(open.back());
      open.pop_back();
      if (!seen.insert(next).second)
        continue;
      const auto& from = graph_.at(next);
      if (from.kind == flow::switch_node || from.kind == flow::pass) {
        for (const auto& input : from.data)
          open.push_back(input.item);
        open.insert(open.end(), from.controls.begin(), from.controls.end());
        continue;
      }
      auto runner = runs_as(next);
      if (runner < 0)
        continue;
      auto common = graph_.at(i).part;
      while (!is_within(graph_.at(runner).part, common))
        common = graph_.at(owner(common)).part;
      auto waiting = lifted(i, common), waited = lifted(runner, common);
      if (waiting != waited)
        controls_[waiting].insert(waited);
    }
  }

  void write_functions(int i, raised_graph& converted) {
    const auto& described = graph_.at(i);
    raised_node converted_node;
    converted_node.is_loop = described.kind == flow::loop;
    converted_node.variables = described.variables;
    for (auto keeps : described.keeps_ref)
      converted_node.keeps_ref.push_back(keeps != 0);
    for (auto p : described.parts) {
      raised_part converted_part;
      if (converted_node.is_loop) {
        converted_part.arguments.resize(described.variables);
        for (auto argument : arguments_of(p)) {
          *converted_part.nodes.add_node() = graph_.at(argument).def;
          converted_part.arguments[static_cast<size_t>(graph_.at(argument).slot)] =
              graph_.at(argument).def.name();
        }
      }
      write(p, converted_part.nodes, converted);
      for (const auto& result : results_[static_cast<size_t>(p)])
        converted_part.results.push_back(result.item < 0 ? std::string{} : graph_.named(result));
      converted_node.parts.push_back(std::move(converted_part));
    }
    converted.nodes.emplace(described.def.name(), std::move(converted_node));
  }

  const std::vector<int>& arguments_of(int p) {
    if (arguments_.empty()) {
      arguments_.resize(depth_.size());
      for (int i = 0; i < graph_.size(); ++i)
        if (graph_.at(i).kind == flow::argument)
          arguments_[static_cast<size_t>(graph_.at(i).part)].push_back(i);
    }
    return arguments_[static_cast<size_t>(p)];
  }

  flow_graph& graph_;
  const int root_;
  std::vector<int> depth_;
  std::vector<std::vector<source>> results_; // of parts
  std::map<source, int> exported_;           // the index of the result of its branch
  std::unordered_map<int, std::vector<source>> inputs_;
  std::unordered_map<int, std::set<source>> outer_;
  std::unordered_map<int, std::set<int>> controls_;
  std::vector<std::vector<int>> arguments_;
  int lost_ = -1;
};

// A variable is read at the Switch or Enter that takes its value, not at the readers of these.
void read_references(flow_graph& graph) {
  for (int i = 0, count = graph.size(); i < count; ++i) {
    auto kind = graph.at(i).kind;
    if (graph.at(i).by_ref || (kind != flow::switch_node && kind != flow::enter) ||
        !graph.is_reference(graph.at(i).data[0]))
      continue;
    item read;
    read.def.set_op("Identity");
    read.def.set_name(graph.unique(concat(graph.at(i).def.name(), "/read")));
    read.def.set_device(graph.at(i).def.device());
    read.data = {graph.at(i).data[0]};
    graph.at(i).data[0] = {graph.add(std::move(read)), 0};
  }
}

} // namespace

result<std::string> raised_graph::renamed(const std::string& text) const {
  TROUPE_ASSIGN(auto name, input_name::parse(text));
  auto renaming = names.find(name.node);
  if (renaming == names.end()) {
    if (auto hidden_entry = hidden.find(name.node); hidden_entry != hidden.end())
      return failure(error_kind::failed_precondition, '\'', name.node, "' ", hidden_entry->second);
    return text;
  }
  if (name.control)
    return "^" + renaming->second.end;
  if (static_cast<size_t>(name.output) >= renaming->second.outputs.size())
    return invalid("there is no output '", text, "', there are ", renaming->second.outputs.size());
  return renaming->second.outputs[static_cast<size_t>(name.output)];
}

result<raised_graph> raise_control_flow(GraphDef& graph, const registry& ops,
                                        const std::set<std::string>& wanted) {
  raised_graph raised;
  if (!flow_graph::has_flow(graph))
    return raised;
  flow_graph nodes{graph, ops};
  TROUPE_TRY(nodes.take());
  read_references(nodes);
  TROUPE_ASSIGN(auto root, raise_loops(nodes));
  TROUPE_ASSIGN(auto names, raise_named_branches(nodes, root, wanted));
  for (int p = root; p-- > 0;) // inner parts have lower numbers
    if (nodes.is_alive(p))
      TROUPE_TRY(raise_branches(nodes, p));
  connector connected{nodes, root};
  TROUPE_TRY(connected.run());
  for (const auto& [name, stand_in_of] : names)
    raised.names.emplace(name, connected.name(stand_in_of));
  connected.write(root, graph, raised);
  raised.hidden = std::move(nodes.hidden);
  return raised;
}

} // namespace troupe::graph_def
