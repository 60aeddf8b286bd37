#include "troupe/serialization/graph_def/flow_graph.hpp"

#include "troupe/serialization/graph_def/function_library.hpp"
#include "troupe/serialization/graph_def/input_name.hpp"

#include <algorithm>

namespace troupe::graph_def {
namespace {

struct flow_op {
  std::string_view name;
  flow kind;
  bool by_ref;
};

constexpr flow_op flow_ops[] = {
    {"Switch", flow::either, false},      {"RefSwitch", flow::either, true},
    {"Merge", flow::merge, false},        {"RefMerge", flow::merge, true},
    {"Enter", flow::enter, false},        {"RefEnter", flow::enter, true},
    {"Exit", flow::leave, false},         {"RefExit", flow::leave, true},
    {"NextIteration", flow::next, false}, {"RefNextIteration", flow::next, true},
    {"LoopCond", flow::loop_cond, false}, {"ControlTrigger", flow::trigger, false},
};

const flow_op* find_flow(std::string_view op) {
  const auto* found = std::ranges::find(flow_ops, op, &flow_op::name);
  return found == std::end(flow_ops) ? nullptr : found;
}

// How many outputs of it can be read; -1: as the op says.
int outputs_of_kind(flow kind) {
  switch (kind) {
    case flow::either:
    case flow::merge: return 2;
    case flow::trigger: return 0;
    case flow::plain: return -1;
    default: return 1;
  }
}

bool fits(flow kind, size_t inputs) {
  switch (kind) {
    case flow::either: return inputs == 2;
    case flow::merge: return inputs >= 1;
    case flow::trigger: return inputs == 0;
    case flow::plain: return true;
    default: return inputs == 1;
  }
}

} // namespace

flow flow_of(std::string_view op) {
  const auto* found = find_flow(op);
  return found ? found->kind : flow::plain;
}

int flow_output(std::string_view op, std::string_view output) {
  switch (flow_of(op)) {
    case flow::either: return output == "output_false" ? 0 : output == "output_true" ? 1 : -1;
    case flow::merge: return output == "output" ? 0 : output == "value_index" ? 1 : -1;
    default: return output == "output" ? 0 : -1;
  }
}

bool flow_graph::has_flow(const GraphDef& from) {
  return std::ranges::any_of(from.node(),
                             [](const auto& each) { return flow_of(each.op()) != flow::plain; });
}

status flow_graph::take() {
  google::protobuf::RepeatedPtrField<NodeDef> given;
  given.Swap(from_.mutable_node());
  for (auto& each : given) {
    item made;
    if (const auto* known = find_flow(each.op())) {
      made.kind = known->kind;
      made.by_ref = known->by_ref;
    }
    made.def = std::move(each);
    auto at = size();
    if (!by_name_.emplace(made.def.name(), at).second)
      return failure(error_kind::already_exists, made.def.op(), " '", made.def.name(),
                     "': the name is used already by another node");
    names_.insert(made.def.name());
    items_.push_back(std::move(made));
  }
  for (int i = 0; i < size(); ++i)
    if (auto read = read_inputs(i); !read)
      return std::move(read).within(described(i));
  return {};
}

status flow_graph::read_inputs(int i) {
  auto& to = at(i);
  for (const auto& text : to.def.input()) {
    TROUPE_ASSIGN(auto name, input_name::parse(text));
    auto found = by_name_.find(std::string{name.node});
    if (found == by_name_.end()) {
      std::vector<std::string_view> known;
      for (const auto& each : items_)
        known.push_back(each.def.name());
      return failure(error_kind::not_found, "there is no node '", name.node, "'",
                     did_you_mean(name.node, known));
    }
    if (name.control) {
      to.controls.push_back(found->second);
      continue;
    }
    const auto& from = at(found->second);
    if (auto known = outputs_of_kind(from.kind); known >= 0 && name.output >= known)
      return invalid("there is no output '", text, "', ", described(found->second), " has ", known);
    to.data.push_back({found->second, name.output});
  }
  to.def.clear_input();
  if (!fits(to.kind, to.data.size()))
    return invalid("has ", to.data.size(), " inputs");
  return {};
}

int flow_graph::add(item made) {
  items_.push_back(std::move(made));
  return size() - 1;
}

int flow_graph::add_part(int owner) {
  part made;
  made.owner = owner;
  parts_.push_back(std::move(made));
  return parts() - 1;
}

void flow_graph::move(int which, int to_part) {
  at(which).part = to_part;
  part_at(to_part).items.push_back(which);
}

bool flow_graph::is_alive(int part) const {
  while (part >= 0) {
    auto owner = parts_[static_cast<size_t>(part)].owner;
    if (owner < 0)
      return true;
    if (at(owner).kind == flow::gone)
      return false;
    part = at(owner).part;
  }
  return false;
}

std::string flow_graph::unique(const std::string& like) {
  auto name = like;
  for (int i = 1; !names_.insert(name).second; ++i)
    name = concat(like, '_', i);
  return name;
}

std::string flow_graph::described(int i) const {
  return concat(at(i).def.op(), " '", at(i).def.name(), '\'');
}

std::string flow_graph::named(source what) const {
  const auto& name = at(what.item).def.name();
  return what.output == 0 ? name : concat(name, ':', what.output);
}

source flow_graph::behind_exits(source what) const {
  if (auto found = exits.find(what.item); found != exits.end())
    return found->second;
  if (what.output == 1 && at(what.item).index.item >= 0)
    return at(what.item).index;
  return what;
}

int flow_graph::behind_exits(int control) const { return behind_exits(source{control}).item; }

status flow_graph::replace_reads(int part, const std::function<status(source&)>& replace) {
  for (auto& each : part_at(part).results)
    TROUPE_TRY(replace(each));
  const auto items = part_at(part).items;
  for (auto i : items) {
    for (size_t k = 0; k < at(i).data.size(); ++k) {
      auto input = at(i).data[k]; // items may move in memory
      TROUPE_TRY(replace(input));
      at(i).data[k] = input;
    }
    const auto parts = at(i).parts;
    for (auto each : parts)
      TROUPE_TRY(replace_reads(each, replace));
  }
  return {};
}

bool flow_graph::has_effect(int i) const {
  const auto& which = at(i);
  if (which.kind == flow::loop || which.kind == flow::branch)
    return true; // it may well have one
  if (which.kind != flow::plain)
    return false;
  auto op = ops_.find_op(which.def.op());
  return !op || (*op)->calls == calling::once || has((*op)->effects, effect::stateful) ||
         has((*op)->effects, effect::random) || has((*op)->effects, effect::blocking);
}

bool flow_graph::is_reference(source what) const {
  const auto& from = at(what.item);
  if (from.kind != flow::plain)
    return from.kind != flow::argument && from.by_ref;
  auto op = ops_.find_op(from.def.op());
  if (!op || what.output < 0 || static_cast<size_t>(what.output) >= (*op)->outputs.size())
    return false;
  const auto& port = (*op)->outputs[static_cast<size_t>(what.output)];
  return port.ref && !port.handle && port.to == resource::variable;
}

int flow_graph::outputs_of(int i) const {
  const auto& of = at(i);
  if (of.kind == flow::loop)
    return static_cast<int>(of.variables);
  if (of.kind != flow::plain)
    return std::max(0, outputs_of_kind(of.kind));
  auto op = ops_.find_op(of.def.op());
  if (!op)
    return 0;
  constexpr int64_t most = 1000;
  int64_t count = 0;
  for (const auto& port : (*op)->outputs) {
    const auto* list =
        find(of.def.attr(), std::string{port.count.empty() ? port.type : port.count});
    if (!port.count.empty())
      count += list ? std::clamp<int64_t>(list->i(), 0, most) : 0;
    else if (const auto* attr = (*op)->find_attr(port.type); attr && attr->kind == attr_kind::types)
      count += list ? list->list().type_size() : 0;
    else
      ++count;
  }
  return static_cast<int>(std::min(count, most));
}

result<std::vector<int>> flow_graph::ordered(const std::vector<int>& which) const {
  std::unordered_map<int, size_t> waits;
  for (auto i : which)
    waits.emplace(i, 0);
  std::unordered_map<int, std::vector<int>> after;
  auto note = [&](int before, int i) {
    if (before >= 0 && waits.contains(before)) {
      after[before].push_back(i);
      ++waits[i];
    }
  };
  for (auto i : which) {
    for (const auto& each : at(i).data)
      if (at(i).kind != flow::merge || each.item < 0 || at(each.item).kind != flow::next)
        note(behind_exits(each).item, i);
    for (auto each : at(i).controls)
      note(behind_exits(each), i);
    for (auto each : at(i).order)
      note(each, i);
  }
  std::vector<int> order;
  for (auto i : which)
    if (waits[i] == 0)
      order.push_back(i);
  for (size_t next = 0; next < order.size(); ++next)
    if (auto found = after.find(order[next]); found != after.end())
      for (auto i : found->second)
        if (--waits[i] == 0)
          order.push_back(i);
  if (order.size() == which.size())
    return order;
  std::string names;
  int told = 0;
  for (auto i : which)
    if (waits[i] > 0 && told++ < 5)
      names += concat(names.empty() ? "" : ", ", described(i));
  return invalid(names, told > 5 ? " and others" : "",
                 " need each other: only a NextIteration leads back, to a Merge");
}

} // namespace troupe::graph_def
