#include "troupe/serialization/graph_def/single_iteration.hpp"

#include "troupe/serialization/graph_def/function_library.hpp"

#include <algorithm>

namespace troupe::graph_def {
namespace {

bool is_constant(const item& enter) {
  const auto* value = find(enter.def.attr(), "is_constant");
  return value && value->b();
}

} // namespace

bool single_iteration_nodes::ends(int i) const {
  return !frame_.members.contains(i) || graph_.at(i).kind == flow::enter ||
         frame_.by_merge.contains(i) || frame_.by_switch.contains(i) || i == frame_.condition;
}

void single_iteration_nodes::sort(std::vector<int> ordered) {
  ordered_ = std::move(ordered);
  for (auto i : ordered_) {
    const auto& node = graph_.at(i);
    if (!frame_.members.contains(i) || node.kind == flow::enter || frame_.by_merge.contains(i) ||
        i == frame_.condition)
      continue; // the condition runs in each iteration, with its effects
    find_sides(i);
    auto visit_input = [&](int from, int output) {
      if (effectful_.contains(from))
        effectful_.insert(i);
      if (frame_.by_switch.contains(i))
        return; // its readers are sorted by the output that they read
      auto is_first = graph_.at(from).kind == flow::enter && !is_constant(graph_.at(from));
      if (frame_.members.contains(from) && (is_first || single_[0].contains(from)))
        single_[0].insert(i);
      auto by_switch = frame_.by_switch.contains(from);
      if ((by_switch && output == 0) || single_[1].contains(from))
        single_[1].insert(i);
      if ((by_switch && output == 1) || body_.contains(from))
        body_.insert(i);
    };
    for (const auto& input : node.data) {
      auto from = graph_.behind_exits(input);
      visit_input(from.item, from.output);
    }
    for (auto control : node.controls)
      visit_input(graph_.behind_exits(control), -1); // a Switch itself runs in each iteration
    if (!ends(i) && graph_.has_effect(i))
      effectful_.insert(i);
  }
}

// The sides of branches within the iteration under which a value exists.
std::set<single_iteration_nodes::side> single_iteration_nodes::sides_of(source value) const {
  value = graph_.behind_exits(value);
  std::set<side> sides;
  if (auto known = sides_.find(value.item); known != sides_.end())
    sides = known->second;
  if (auto predicate = predicates_.find(value.item);
      predicate != predicates_.end() && value.output >= 0)
    sides.emplace(predicate->second, value.output);
  return sides;
}

void single_iteration_nodes::find_sides(int i) {
  const auto& node = graph_.at(i);
  if (node.kind == flow::switch_node && !frame_.by_switch.contains(i))
    predicates_[i] = graph_.behind_exits(node.data[1]);
  std::set<side> sides;
  auto first = true;
  for (const auto& input : node.data) {
    auto input_sides = sides_of(input);
    if (node.kind == flow::merge && !first)
      std::erase_if(sides,
                    [&](const side& known_side) { return !input_sides.contains(known_side); });
    else
      sides.merge(input_sides);
    first = false;
  }
  if (!frame_.by_switch.contains(i))
    for (auto control : node.controls)
      sides.merge(sides_of({control, -1}));
  if (!sides.empty())
    sides_[i] = std::move(sides);
}

// The sides that a node needs by control edges that it loses.
std::set<single_iteration_nodes::side> single_iteration_nodes::lost_sides(int i,
                                                                          iteration target) const {
  const auto& node = graph_.at(i);
  std::set<side> lost;
  for (auto control : node.controls)
    if (auto waited = graph_.behind_exits(control);
        frame_.members.contains(waited) && !runs_in(waited, target))
      lost.merge(sides_of({waited, -1}));
  if (!lost.empty() && node.kind != flow::merge)
    for (const auto& input : node.data)
      for (const auto& known : sides_of(input))
        lost.erase(known);
  return lost;
}

// Makes an Identity outside of the loop that runs if the side is taken in that iteration.
result<int> single_iteration_nodes::pivot(const side& needed_side, iteration target) {
  auto [position, is_new] = pivots_[index(target)].emplace(needed_side, -1);
  if (!is_new)
    return position->second;
  TROUPE_ASSIGN(auto predicate, outside(needed_side.first, target));
  const auto name = concat(graph_.at(needed_side.first.item).def.name(),
                           target == iteration::last ? "/last" : "/first");
  auto add = [&](flow kind, const char* op, const char* suffix, std::vector<source> data) {
    item added;
    added.kind = kind;
    added.def.set_op(op);
    added.def.set_name(graph_.unique(concat(name, suffix)));
    added.def.set_device(graph_.at(needed_side.first.item).def.device());
    (*added.def.mutable_attr())["T"].set_type(DT_BOOL);
    added.data = std::move(data);
    moved_.push_back(graph_.add(std::move(added)));
    return moved_.back();
  };
  auto switch_item = add(flow::switch_node, "Switch", "/Switch", {predicate, predicate});
  position->second = add(flow::plain, "Identity", "/pivot", {{switch_item, needed_side.second}});
  return position->second;
}

// Returns the source of a value, behind nodes of the iteration that only pass it on.
result<source> single_iteration_nodes::behind(source value, iteration target) const {
  for (;;) {
    value = graph_.behind_exits(value);
    if (!frame_.members.contains(value.item))
      return value;
    const auto& from = graph_.at(value.item);
    if (frame_.by_switch.contains(value.item)) {
      if (target == iteration::first || value.output != 0)
        return invalid('\'', graph_.named(value), "' does not exist in ",
                       target == iteration::first ? "the first iteration alone"
                                                  : "the iteration that ends the loop");
      value = from.data[0];
    } else if (value.item == frame_.condition) {
      value = from.data[0];
    } else if (auto merge = frame_.by_merge.find(value.item); merge != frame_.by_merge.end()) {
      if (value.output != 0)
        return failure(error_kind::unimplemented, "value_index of ", graph_.described(value.item),
                       ", a loop's Merge, is read");
      if (target == iteration::last)
        return source{frame_.loop, static_cast<int>(merge->second)};
      value = frame_.variables[merge->second].initial;
    } else if (from.kind == flow::enter) {
      if (target == iteration::last && !is_constant(from))
        return invalid(graph_.described(value.item),
                       " exists in the first iteration only: it must lead to a Merge, or be "
                       "constant");
      value = from.data[0];
    } else {
      return value;
    }
  }
}

status single_iteration_nodes::need(source value, iteration target) {
  auto& needed = needed_[index(target)];
  std::vector<int> open;
  auto visit = [&](source input) -> status {
    TROUPE_ASSIGN(auto from, behind(input, target));
    if (frame_.members.contains(from.item) && needed.insert(from.item).second)
      open.push_back(from.item);
    return {};
  };
  TROUPE_TRY(visit(value));
  while (!open.empty()) {
    auto i = open.back();
    open.pop_back();
    if (!runs_in(i, target) && graph_.has_effect(i))
      return failure(error_kind::unimplemented, graph_.described(i),
                     " has an effect, or draws random numbers, in each iteration of the loop, and "
                     "is needed ",
                     target == iteration::last ? "after" : "before",
                     " the loop as well: make it a variable of the loop");
    for (const auto& input : graph_.at(i).data)
      TROUPE_TRY(visit(input).with_context(graph_.described(i)));
    for (const auto& lost : lost_sides(i, target))
      TROUPE_TRY(visit(lost.first).with_context(graph_.described(i)));
    if (runs_in(i, target)) // a copy runs after the loop
      for (auto control : graph_.at(i).controls) {
        auto waited = graph_.behind_exits(control);
        TROUPE_TRY(need_control(i, waited, target));
        if (runs_in(waited, target) && needed.insert(waited).second)
          open.push_back(waited);
      }
  }
  return {};
}

status single_iteration_nodes::need_control(int waiting, int control, iteration target) {
  auto waited = graph_.behind_exits(control);
  if (runs_in(waited, target) || !frame_.members.contains(waited))
    return {};
  if (runs_in_body(waited) ||
      runs_in(waited, target == iteration::last ? iteration::first : iteration::last))
    return invalid(graph_.described(waiting), " never runs: it waits for ",
                   graph_.described(waited), ", which does not run in the ",
                   target == iteration::last ? "last" : "first", " iteration of the loop");
  if (!acts(waited))
    return {};
  if (target == iteration::first)
    return failure(
        error_kind::unimplemented, graph_.described(waiting), " waits for ",
        graph_.described(waited),
        " within the first iteration of the loop, which has an effect in each iteration");
  effects_.insert(waited);
  return {};
}

result<source> single_iteration_nodes::outside(source value, iteration target) const {
  TROUPE_ASSIGN(auto from, behind(value, target));
  if (!frame_.members.contains(from.item))
    return from;
  auto placed = placed_[index(target)].find(from.item);
  if (placed == placed_[index(target)].end())
    return failure(error_kind::internal, graph_.described(from.item), " got lost");
  return source{placed->second, from.output};
}

std::set<int> single_iteration_nodes::outside_controls(int waiting, iteration target) const {
  std::set<int> kept;
  for (auto control : graph_.at(waiting).controls)
    if (auto waited = graph_.behind_exits(control); runs_in(waited, target)) {
      if (auto placed = placed_[index(target)].find(waited); placed != placed_[index(target)].end())
        kept.insert(placed->second);
    } else if (!frame_.members.contains(waited)) {
      kept.insert(waited);
    }
  return kept;
}

status single_iteration_nodes::move_out(iteration target) {
  const auto needed = needed_[index(target)];
  for (auto i : ordered_)
    if (needed.contains(i))
      TROUPE_TRY(place(i, target).with_context(graph_.described(i)));
  return {};
}

status single_iteration_nodes::place(int i, iteration target) {
  auto is_single = runs_in(i, target);
  auto placed = i;
  if (!is_single) {
    auto copy = graph_.at(i);
    copy.controls.clear(); // replaced by pivots for their sides of branches
    copy.def.set_name(
        graph_.unique(concat(copy.def.name(), target == iteration::last ? "/last" : "/first")));
    placed = graph_.add(std::move(copy));
  }
  std::set<int> waits;
  if (is_single)
    waits = outside_controls(i, target);
  auto follows = false;
  auto data = graph_.at(placed).data;
  for (auto& input : data) {
    if (const auto& enter = graph_.at(input.item);
        enter.kind == flow::enter && target == iteration::first)
      waits.insert(enter.controls.begin(), enter.controls.end());
    TROUPE_ASSIGN(input, outside(input, target));
    follows = follows || input.item == frame_.loop || runs_in(input.item, target);
  }
  for (const auto& lost : lost_sides(i, target)) {
    TROUPE_ASSIGN(auto pivot_item, pivot(lost, target));
    waits.insert(pivot_item);
  }
  // The node must not run if the loop does not; without inputs it would always run.
  if (target == iteration::last && !follows)
    waits.insert(frame_.loop);
  graph_.at(placed).data = std::move(data);
  graph_.at(placed).controls.assign(waits.begin(), waits.end());
  for (auto part : graph_.at(placed).parts)
    TROUPE_TRY(graph_.replace_reads(part, [&](source& input) -> status {
      if (frame_.members.contains(input.item)) {
        TROUPE_ASSIGN(input, outside(input, target));
      }
      return {};
    }));
  placed_[index(target)][i] = placed;
  moved_.push_back(placed);
  if (is_single)
    moved_out_.insert(i);
  return {};
}

} // namespace troupe::graph_def
