#include "troupe/serialization/graph_def/raise_control_flow.hpp"

#include "troupe/serialization/graph_def/input_name.hpp"
#include "troupe/serialization/graph_def/raise_branches.hpp"
#include "troupe/serialization/graph_def/raise_loops.hpp"

#include <algorithm>

namespace troupe::graph_def {
namespace {

constexpr int deepest_nest = 64;

// Connects the nodes where they have come to lie: what leaves a branch becomes a result of it, what
// enters a branch or loop an input.
class connector {
public:
  connector(flow_graph& in, int root) : in_(in), root_(root) {}

  status run() {
    depth_.assign(static_cast<size_t>(in_.parts()), 0);
    results_.resize(depth_.size());
    for (int p = 0; p < in_.parts(); ++p) {
      results_[static_cast<size_t>(p)].resize(in_.part_at(p).results.size());
      TROUPE_TRY(find_depth(p));
    }
    name_inner();
    for (int p = 0; p < in_.parts(); ++p) {
      if (depth(p) < 0)
        continue;
      for (size_t i = 0; i < in_.part_at(p).items.size(); ++i)
        connect(in_.part_at(p).items[i]);
      for (size_t i = 0; i < in_.part_at(p).results.size(); ++i)
        results_[static_cast<size_t>(p)][i] = given(in_.part_at(p).results[i], p, owner(p));
    }
    if (lost_ >= 0)
      return failure(error_kind::internal, in_.described(lost_), " got lost");
    return {};
  }

  raised_name name(const stand_in& what) {
    raised_name made;
    made.is_exclusive = what.is_exclusive;
    for (const auto& each : what.outputs)
      made.outputs.push_back(in_.named(given(each, root_, -1)));
    if (auto end = runs_as(what.end); end >= 0)
      made.end = in_.at(lifted(end, root_)).def.name();
    return made;
  }

  // Only after all names are known: they make further results.
  void write(int p, GraphDef& to, raised_graph& all) {
    for (auto i : in_.part_at(p).items) {
      NodeDef made = in_.at(i).def;
      if (in_.at(i).kind == flow::trigger)
        made.set_op("NoOp");
      for (const auto& each : inputs_[i])
        made.add_input(in_.named(each));
      for (const auto& each : outer_[i])
        made.add_input(in_.named(each));
      for (auto each : controls_[i])
        made.add_input("^" + in_.at(each).def.name());
      if (!in_.at(i).parts.empty())
        write_functions(i, all);
      *to.add_node() = std::move(made);
    }
  }

private:
  int owner(int p) const { return in_.part_at(p).owner; }
  int& depth(int p) { return depth_[static_cast<size_t>(p)]; }

  status find_depth(int p) {
    depth(p) = -1;
    if (!in_.is_alive(p))
      return {};
    int found = 0;
    for (auto at = p; owner(at) >= 0 && found <= deepest_nest; at = in_.at(owner(at)).part)
      ++found;
    depth(p) = found;
    if (found > deepest_nest)
      return failure(error_kind::unimplemented, in_.described(owner(p)),
                     ": branches and loops are nested more than ", deepest_nest, " deep");
    return {};
  }

  // What a function adds to its nodes must not meet their names.
  void name_inner() {
    for (int p = 0; p < in_.parts(); ++p)
      if (depth(p) > 0)
        for (auto i : in_.part_at(p).items)
          if (auto& def = in_.at(i).def;
              def.name().starts_with("Const") || def.name().starts_with("argument_"))
            def.set_name(in_.unique(concat(in_.at(owner(p)).def.name(), '/', def.name())));
  }

  // The item that makes a value. Who takes it waits for what stood on the way.
  source behind(source what, std::set<int>* waits) const {
    for (;;) {
      what = in_.behind_exits(what);
      const auto& from = in_.at(what.item);
      if (from.kind == flow::either) {
        if (waits)
          waits->insert(from.controls.begin(), from.controls.end());
        what = from.data[0];
      } else if (what.output == 1 && from.index.item >= 0) {
        what = from.index;
      } else if (from.kind == flow::pass) {
        if (waits)
          waits->insert(from.controls.begin(), from.controls.end());
        what = from.data[0];
      } else if (from.kind == flow::merge) {
        return {from.branch, from.slot};
      } else {
        return what;
      }
    }
  }

  bool is_within(int p, int outer) const {
    for (;; p = in_.at(owner(p)).part) {
      if (p == outer)
        return true;
      if (owner(p) < 0)
        return false;
    }
  }

  // Makes what lies in branches a result of them, up to where it can be read.
  source brought(source what, int p) {
    while (!is_within(p, in_.at(what.item).part)) {
      auto inner = in_.at(what.item).part;
      auto branch = inner < 0 ? -1 : owner(inner);
      if (branch < 0 || in_.at(branch).kind != flow::branch) {
        lost_ = what.item;
        return {root_item(), 0};
      }
      const auto& parts = in_.at(branch).parts;
      auto [known, fresh] = brought_.emplace(what, 0);
      if (fresh) {
        known->second = static_cast<int>(results_[static_cast<size_t>(inner)].size());
        for (auto side : parts)
          results_[static_cast<size_t>(side)].push_back(side == inner ? what : source{});
      }
      what = {branch, known->second};
    }
    return what;
  }

  // Any item that everything can read: what is wrong is told later.
  int root_item() const { return in_.part_at(root_).items.front(); }

  // What is read in a part: all branches and loops on the way take it.
  source given(source what, int p, int by) {
    if (what.item < 0 || what.output < 0)
      return {};
    std::set<int> waits;
    auto found = brought(behind(what, &waits), p);
    for (auto at = p; at != in_.at(found.item).part; at = in_.at(owner(at)).part)
      outer_[owner(at)].insert(found);
    if (by >= 0)
      for (auto each : waits)
        wait(by, each);
    return found;
  }

  void connect(int i) {
    const auto p = in_.at(i).part;
    const auto data = in_.at(i).data;
    auto taken = in_.at(i).kind == flow::loop ? in_.at(i).variables : data.size();
    std::vector<source> inputs;
    for (size_t k = 0; k < taken; ++k)
      inputs.push_back(given(data[k], p, i));
    inputs_[i] = std::move(inputs);
    std::set<int> waits;
    for (size_t k = taken; k < data.size(); ++k)
      behind(data[k], &waits);
    waits.insert(in_.at(i).controls.begin(), in_.at(i).controls.end());
    for (auto each : waits)
      wait(i, each);
  }

  // The item that runs when another would; -1: none.
  int runs_as(int i) const {
    if (i < 0)
      return -1;
    i = in_.behind_exits(i);
    switch (in_.at(i).kind) {
      case flow::plain:
      case flow::trigger:
      case flow::branch:
      case flow::loop: return i;
      case flow::merge: return in_.at(i).branch;
      case flow::either:
      case flow::pass: return runs_as(behind({i, 0}, nullptr).item);
      default: return -1;
    }
  }

  int lifted(int i, int p) const {
    while (in_.at(i).part != p)
      i = owner(in_.at(i).part);
    return i;
  }

  void wait(int i, int before) {
    std::set<int> seen;
    std::vector<int> open{before};
    while (!open.empty()) {
      auto next = in_.behind_exits(open.back());
      open.pop_back();
      if (!seen.insert(next).second)
        continue;
      const auto& from = in_.at(next);
      if (from.kind == flow::either || from.kind == flow::pass) {
        for (const auto& each : from.data)
          open.push_back(each.item);
        open.insert(open.end(), from.controls.begin(), from.controls.end());
        continue;
      }
      auto end = runs_as(next);
      if (end < 0)
        continue;
      auto common = in_.at(i).part;
      while (!is_within(in_.at(end).part, common))
        common = in_.at(owner(common)).part;
      auto a = lifted(i, common), b = lifted(end, common);
      if (a != b)
        controls_[a].insert(b);
    }
  }

  void write_functions(int i, raised_graph& all) {
    const auto& of = in_.at(i);
    raised_node made;
    made.is_loop = of.kind == flow::loop;
    made.variables = of.variables;
    for (auto each : of.keeps_ref)
      made.keeps_ref.push_back(each != 0);
    for (auto p : of.parts) {
      raised_part one;
      if (made.is_loop) {
        one.arguments.resize(of.variables);
        for (auto each : arguments_of(p)) {
          *one.nodes.add_node() = in_.at(each).def;
          one.arguments[static_cast<size_t>(in_.at(each).slot)] = in_.at(each).def.name();
        }
      }
      write(p, one.nodes, all);
      for (const auto& each : results_[static_cast<size_t>(p)])
        one.results.push_back(each.item < 0 ? std::string{} : in_.named(each));
      made.parts.push_back(std::move(one));
    }
    all.nodes.emplace(of.def.name(), std::move(made));
  }

  const std::vector<int>& arguments_of(int p) {
    if (arguments_.empty()) {
      arguments_.resize(depth_.size());
      for (int i = 0; i < in_.size(); ++i)
        if (in_.at(i).kind == flow::argument)
          arguments_[static_cast<size_t>(in_.at(i).part)].push_back(i);
    }
    return arguments_[static_cast<size_t>(p)];
  }

  flow_graph& in_;
  const int root_;
  std::vector<int> depth_;
  std::vector<std::vector<source>> results_; // of parts
  std::map<source, int> brought_;            // which result of its branch
  std::unordered_map<int, std::vector<source>> inputs_;
  std::unordered_map<int, std::set<source>> outer_;
  std::unordered_map<int, std::set<int>> controls_;
  std::vector<std::vector<int>> arguments_;
  int lost_ = -1;
};

// A value that a Switch or Enter takes of a variable is read there, not where it is used.
void read_references(flow_graph& in) {
  for (int i = 0, count = in.size(); i < count; ++i) {
    auto kind = in.at(i).kind;
    if (in.at(i).by_ref || (kind != flow::either && kind != flow::enter) ||
        !in.is_reference(in.at(i).data[0]))
      continue;
    item made;
    made.def.set_op("Identity");
    made.def.set_name(in.unique(concat(in.at(i).def.name(), "/read")));
    made.def.set_device(in.at(i).def.device());
    made.data = {in.at(i).data[0]};
    in.at(i).data[0] = {in.add(std::move(made)), 0};
  }
}

} // namespace

result<std::string> raised_graph::renamed(const std::string& text) const {
  TROUPE_ASSIGN(auto name, input_name::parse(text));
  auto found = names.find(name.node);
  if (found == names.end()) {
    if (auto gone = hidden.find(name.node); gone != hidden.end())
      return failure(error_kind::failed_precondition, '\'', name.node, "' ", gone->second);
    return text;
  }
  if (name.control)
    return "^" + found->second.end;
  if (static_cast<size_t>(name.output) >= found->second.outputs.size())
    return invalid("there is no output '", text, "', there are ", found->second.outputs.size());
  return found->second.outputs[static_cast<size_t>(name.output)];
}

result<raised_graph> raise_control_flow(GraphDef& in, const registry& ops,
                                        const std::set<std::string>& wanted) {
  raised_graph made;
  if (!flow_graph::has_flow(in))
    return made;
  flow_graph nodes{in, ops};
  TROUPE_TRY(nodes.take());
  read_references(nodes);
  TROUPE_ASSIGN(auto root, raise_loops(nodes));
  TROUPE_ASSIGN(auto names, raise_named_branches(nodes, root, wanted));
  for (int p = root; p-- > 0;) // those within others have lower numbers
    if (nodes.is_alive(p))
      TROUPE_TRY(raise_branches(nodes, p));
  connector by{nodes, root};
  TROUPE_TRY(by.run());
  for (const auto& [name, what] : names)
    made.names.emplace(name, by.name(what));
  by.write(root, in, made);
  made.hidden = std::move(nodes.hidden);
  return made;
}

} // namespace troupe::graph_def
