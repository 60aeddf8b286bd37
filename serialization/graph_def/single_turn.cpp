#include "troupe/serialization/graph_def/single_turn.hpp"

#include "troupe/serialization/graph_def/function_library.hpp"

#include <algorithm>

namespace troupe::graph_def {
namespace {

bool is_constant(const item& enter) {
  const auto* value = find(enter.def.attr(), "is_constant");
  return value && value->b();
}

} // namespace

bool single_turn_nodes::ends(int i) const {
  return !frame_.members.contains(i) || in_.at(i).kind == flow::enter ||
         frame_.by_merge.contains(i) || frame_.by_switch.contains(i) || i == frame_.condition;
}

void single_turn_nodes::sort(std::vector<int> ordered) {
  ordered_ = std::move(ordered);
  for (auto i : ordered_) {
    const auto& node = in_.at(i);
    if (!frame_.members.contains(i) || node.kind == flow::enter || frame_.by_merge.contains(i) ||
        i == frame_.condition)
      continue; // the condition runs in each turn, with its effects
    find_sides(i);
    auto look = [&](int from, int output) {
      if (acting_.contains(from))
        acting_.insert(i);
      if (frame_.by_switch.contains(i))
        return; // its readers are sorted by the output that they read
      auto is_first = in_.at(from).kind == flow::enter && !is_constant(in_.at(from));
      if (frame_.members.contains(from) && (is_first || own_[0].contains(from)))
        own_[0].insert(i);
      auto by_switch = frame_.by_switch.contains(from);
      if ((by_switch && output == 0) || own_[1].contains(from))
        own_[1].insert(i);
      if ((by_switch && output == 1) || body_.contains(from))
        body_.insert(i);
    };
    for (const auto& each : node.data) {
      auto from = in_.behind_exits(each);
      look(from.item, from.output);
    }
    for (auto each : node.controls)
      look(in_.behind_exits(each), -1); // a Switch itself runs in each turn
    if (!ends(i) && in_.has_effect(i))
      acting_.insert(i);
  }
}

// The sides of branches within the turn that a value needs to be taken.
std::set<single_turn_nodes::side> single_turn_nodes::sides_of(source value) const {
  value = in_.behind_exits(value);
  std::set<side> all;
  if (auto found = sides_.find(value.item); found != sides_.end())
    all = found->second;
  if (auto asked = asked_.find(value.item); asked != asked_.end() && value.output >= 0)
    all.emplace(asked->second, value.output);
  return all;
}

void single_turn_nodes::find_sides(int i) {
  const auto& node = in_.at(i);
  if (node.kind == flow::either && !frame_.by_switch.contains(i))
    asked_[i] = in_.behind_exits(node.data[1]);
  std::set<side> all;
  auto first = true;
  for (const auto& each : node.data) {
    auto more = sides_of(each);
    if (node.kind == flow::merge && !first)
      std::erase_if(all, [&](const side& one) { return !more.contains(one); });
    else
      all.merge(more);
    first = false;
  }
  if (!frame_.by_switch.contains(i))
    for (auto each : node.controls)
      all.merge(sides_of({each, -1}));
  if (!all.empty())
    sides_[i] = std::move(all);
}

// The sides that a node needs by control edges alone, of those that it does not keep.
std::set<single_turn_nodes::side> single_turn_nodes::lost_sides(int i, turn at) const {
  const auto& node = in_.at(i);
  std::set<side> lost;
  for (auto each : node.controls)
    if (auto c = in_.behind_exits(each); frame_.members.contains(c) && !runs_in(c, at))
      lost.merge(sides_of({c, -1}));
  if (!lost.empty() && node.kind != flow::merge)
    for (const auto& each : node.data)
      for (const auto& known : sides_of(each))
        lost.erase(known);
  return lost;
}

// An Identity around the loop that runs if the side is taken in that turn.
result<int> single_turn_nodes::pivot(const side& of, turn at) {
  auto [known, fresh] = pivots_[index(at)].emplace(of, -1);
  if (!fresh)
    return known->second;
  TROUPE_ASSIGN(auto predicate, outside(of.first, at));
  const auto name = concat(in_.at(of.first.item).def.name(), at == turn::last ? "/last" : "/first");
  auto add = [&](flow kind, const char* op, const char* further, std::vector<source> data) {
    item made;
    made.kind = kind;
    made.def.set_op(op);
    made.def.set_name(in_.unique(concat(name, further)));
    made.def.set_device(in_.at(of.first.item).def.device());
    (*made.def.mutable_attr())["T"].set_type(DT_BOOL);
    made.data = std::move(data);
    moved_.push_back(in_.add(std::move(made)));
    return moved_.back();
  };
  auto by = add(flow::either, "Switch", "/Switch", {predicate, predicate});
  known->second = add(flow::plain, "Identity", "/pivot", {{by, of.second}});
  return known->second;
}

// The value behind nodes of the turn that only pass it on.
result<source> single_turn_nodes::behind(source value, turn at) const {
  for (;;) {
    value = in_.behind_exits(value);
    if (!frame_.members.contains(value.item))
      return value;
    const auto& from = in_.at(value.item);
    if (frame_.by_switch.contains(value.item)) {
      if (at == turn::first || value.output != 0)
        return invalid('\'', in_.named(value), "' is not there in ",
                       at == turn::first ? "the first turn alone" : "the turn that ends the loop");
      value = from.data[0];
    } else if (value.item == frame_.condition) {
      value = from.data[0];
    } else if (auto merge = frame_.by_merge.find(value.item); merge != frame_.by_merge.end()) {
      if (value.output != 0)
        return failure(error_kind::unimplemented, "value_index of ", in_.described(value.item),
                       ", a loop's Merge, is read");
      if (at == turn::last)
        return source{frame_.loop, static_cast<int>(merge->second)};
      value = frame_.variables[merge->second].initial;
    } else if (from.kind == flow::enter) {
      if (at == turn::last && !is_constant(from))
        return invalid(in_.described(value.item), " is there in the first turn only: it must lead "
                                                  "to a Merge, or be constant");
      value = from.data[0];
    } else {
      return value;
    }
  }
}

status single_turn_nodes::need(source value, turn at) {
  auto& needed = needed_[index(at)];
  std::vector<int> open;
  auto visit = [&](source each) -> status {
    TROUPE_ASSIGN(auto from, behind(each, at));
    if (frame_.members.contains(from.item) && needed.insert(from.item).second)
      open.push_back(from.item);
    return {};
  };
  TROUPE_TRY(visit(value));
  while (!open.empty()) {
    auto i = open.back();
    open.pop_back();
    if (!runs_in(i, at) && in_.has_effect(i))
      return failure(error_kind::unimplemented, in_.described(i),
                     " has an effect, or draws random numbers, in each turn of the loop, and is "
                     "needed ",
                     at == turn::last ? "behind" : "before",
                     " the loop as well: make it a variable of the loop");
    for (const auto& each : in_.at(i).data)
      TROUPE_TRY(visit(each).within(in_.described(i)));
    for (const auto& each : lost_sides(i, at))
      TROUPE_TRY(visit(each.first).within(in_.described(i)));
    if (runs_in(i, at)) // a copy runs when the loop has
      for (auto each : in_.at(i).controls) {
        auto c = in_.behind_exits(each);
        TROUPE_TRY(need_control(i, c, at));
        if (runs_in(c, at) && needed.insert(c).second)
          open.push_back(c);
      }
  }
  return {};
}

status single_turn_nodes::need_control(int by, int control, turn at) {
  auto c = in_.behind_exits(control);
  if (runs_in(c, at) || !frame_.members.contains(c))
    return {};
  if (runs_in_body(c) || runs_in(c, at == turn::last ? turn::first : turn::last))
    return invalid(in_.described(by), " never runs: it waits for ", in_.described(c),
                   ", which does not run in the ", at == turn::last ? "last" : "first",
                   " turn of the loop");
  if (!acts(c))
    return {};
  if (at == turn::first)
    return failure(error_kind::unimplemented, in_.described(by), " waits for ", in_.described(c),
                   " within the first turn of the loop, which has an effect in each turn");
  effects_.insert(c);
  return {};
}

result<source> single_turn_nodes::outside(source value, turn at) const {
  TROUPE_ASSIGN(auto from, behind(value, at));
  if (!frame_.members.contains(from.item))
    return from;
  auto placed = placed_[index(at)].find(from.item);
  if (placed == placed_[index(at)].end())
    return failure(error_kind::internal, in_.described(from.item), " got lost");
  return source{placed->second, from.output};
}

std::set<int> single_turn_nodes::outside_controls(int by, turn at) const {
  std::set<int> kept;
  for (auto each : in_.at(by).controls)
    if (auto c = in_.behind_exits(each); runs_in(c, at)) {
      if (auto placed = placed_[index(at)].find(c); placed != placed_[index(at)].end())
        kept.insert(placed->second);
    } else if (!frame_.members.contains(c)) {
      kept.insert(c);
    }
  return kept;
}

status single_turn_nodes::move_out(turn at) {
  const auto needed = needed_[index(at)];
  for (auto i : ordered_)
    if (needed.contains(i))
      TROUPE_TRY(place(i, at).within(in_.described(i)));
  return {};
}

status single_turn_nodes::place(int i, turn at) {
  auto own = runs_in(i, at);
  auto to = i;
  if (!own) {
    auto copy = in_.at(i);
    copy.controls.clear(); // but for the sides of branches that they stand for
    copy.def.set_name(in_.unique(concat(copy.def.name(), at == turn::last ? "/last" : "/first")));
    to = in_.add(std::move(copy));
  }
  std::set<int> waits;
  if (own)
    waits = outside_controls(i, at);
  auto follows = false;
  auto data = in_.at(to).data;
  for (auto& each : data) {
    if (const auto& enter = in_.at(each.item); enter.kind == flow::enter && at == turn::first)
      waits.insert(enter.controls.begin(), enter.controls.end());
    TROUPE_ASSIGN(each, outside(each, at));
    follows = follows || each.item == frame_.loop || runs_in(each.item, at);
  }
  for (const auto& each : lost_sides(i, at)) {
    TROUPE_ASSIGN(auto runs, pivot(each, at));
    waits.insert(runs);
  }
  // The node does not run where the loop does not, and without inputs it would always run.
  if (at == turn::last && !follows)
    waits.insert(frame_.loop);
  in_.at(to).data = std::move(data);
  in_.at(to).controls.assign(waits.begin(), waits.end());
  for (auto part : in_.at(to).parts)
    TROUPE_TRY(in_.replace_reads(part, [&](source& each) -> status {
      if (frame_.members.contains(each.item)) {
        TROUPE_ASSIGN(each, outside(each, at));
      }
      return {};
    }));
  placed_[index(at)][i] = to;
  moved_.push_back(to);
  if (own)
    moved_out_.insert(i);
  return {};
}

} // namespace troupe::graph_def
