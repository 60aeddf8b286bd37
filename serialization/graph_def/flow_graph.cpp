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
    {"Switch", flow::switch_node, false},
    {"RefSwitch", flow::switch_node, true},
    {"Merge", flow::merge, false},
    {"RefMerge", flow::merge, true},
    {"Enter", flow::enter, false},
    {"RefEnter", flow::enter, true},
    {"Exit", flow::exit, false},
    {"RefExit", flow::exit, true},
    {"NextIteration", flow::next_iteration, false},
    {"RefNextIteration", flow::next_iteration, true},
    {"LoopCond", flow::loop_cond, false},
    {"ControlTrigger", flow::trigger, false},
};

const flow_op* find_flow(std::string_view op) {
  const auto* entry = std::ranges::find(flow_ops, op, &flow_op::name);
  return entry == std::end(flow_ops) ? nullptr : entry;
}

// The number of readable outputs; -1: as in the op's definition.
int outputs_of_kind(flow kind) {
  switch (kind) {
    case flow::switch_node:
    case flow::merge: return 2;
    case flow::trigger: return 0;
    case flow::plain: return -1;
    default: return 1;
  }
}

bool fits(flow kind, size_t inputs) {
  switch (kind) {
    case flow::switch_node: return inputs == 2;
    case flow::merge: return inputs >= 1;
    case flow::trigger: return inputs == 0;
    case flow::plain: return true;
    default: return inputs == 1;
  }
}

} // namespace

flow flow_of(std::string_view op) {
  const auto* known = find_flow(op);
  return known ? known->kind : flow::plain;
}

int flow_output(std::string_view op, std::string_view output) {
  switch (flow_of(op)) {
    case flow::switch_node: return output == "output_false" ? 0 : output == "output_true" ? 1 : -1;
    case flow::merge: return output == "output" ? 0 : output == "value_index" ? 1 : -1;
    default: return output == "output" ? 0 : -1;
  }
}

bool flow_graph::has_flow(const GraphDef& from) {
  return std::ranges::any_of(
      from.node(), [](const auto& node_def) { return flow_of(node_def.op()) != flow::plain; });
}

status flow_graph::take() {
  google::protobuf::RepeatedPtrField<NodeDef> given;
  given.Swap(from_.mutable_node());
  for (auto& node_def : given) {
    item added;
    if (const auto* flow_kind = find_flow(node_def.op())) {
      added.kind = flow_kind->kind;
      added.by_ref = flow_kind->by_ref;
    }
    added.def = std::move(node_def);
    auto position = size();
    if (!by_name_.emplace(added.def.name(), position).second)
      return failure(error_kind::already_exists, added.def.op(), " '", added.def.name(),
                     "': the name is used already by another node");
    names_.insert(added.def.name());
    items_.push_back(std::move(added));
  }
  for (int i = 0; i < size(); ++i)
    if (auto read = read_inputs(i); !read)
      return std::move(read).with_context(described(i));
  return {};
}

status flow_graph::read_inputs(int i) {
  auto& reader = at(i);
  for (const auto& text : reader.def.input()) {
    TROUPE_ASSIGN(auto name, input_name::parse(text));
    auto position = by_name_.find(std::string{name.node});
    if (position == by_name_.end()) {
      std::vector<std::string_view> known_names;
      for (const auto& known_item : items_)
        known_names.push_back(known_item.def.name());
      return failure(error_kind::not_found, "there is no node '", name.node, "'",
                     did_you_mean(name.node, known_names));
    }
    if (name.control) {
      reader.controls.push_back(position->second);
      continue;
    }
    const auto& from = at(position->second);
    if (auto outputs = outputs_of_kind(from.kind); outputs >= 0 && name.output >= outputs)
      return invalid("there is no output '", text, "', ", described(position->second), " has ",
                     outputs);
    reader.data.push_back({position->second, name.output});
  }
  reader.def.clear_input();
  if (!fits(reader.kind, reader.data.size()))
    return invalid("has ", reader.data.size(), " inputs");
  return {};
}

int flow_graph::add(item added) {
  items_.push_back(std::move(added));
  return size() - 1;
}

int flow_graph::add_part(int owner) {
  part added;
  added.owner = owner;
  parts_.push_back(std::move(added));
  return parts() - 1;
}

void flow_graph::move(int moved, int to_part) {
  at(moved).part = to_part;
  part_at(to_part).items.push_back(moved);
}

bool flow_graph::is_alive(int part) const {
  while (part >= 0) {
    auto owner = parts_[static_cast<size_t>(part)].owner;
    if (owner < 0)
      return true;
    if (at(owner).kind == flow::removed)
      return false;
    part = at(owner).part;
  }
  return false;
}

std::string flow_graph::unique(const std::string& base_name) {
  auto name = base_name;
  for (int i = 1; !names_.insert(name).second; ++i)
    name = concat(base_name, '_', i);
  return name;
}

std::string flow_graph::described(int i) const {
  return concat(at(i).def.op(), " '", at(i).def.name(), '\'');
}

std::string flow_graph::named(source value) const {
  const auto& name = at(value.item).def.name();
  return value.output == 0 ? name : concat(name, ':', value.output);
}

source flow_graph::behind_exits(source value) const {
  if (auto entry = exits.find(value.item); entry != exits.end())
    return entry->second;
  if (value.output == 1 && at(value.item).index.item >= 0)
    return at(value.item).index;
  return value;
}

int flow_graph::behind_exits(int control) const { return behind_exits(source{control}).item; }

status flow_graph::replace_reads(int part, const std::function<status(source&)>& replace) {
  for (auto& value : part_at(part).results)
    TROUPE_TRY(replace(value));
  const auto items = part_at(part).items;
  for (auto i : items) {
    for (size_t k = 0; k < at(i).data.size(); ++k) {
      auto input = at(i).data[k]; // items may move in memory
      TROUPE_TRY(replace(input));
      at(i).data[k] = input;
    }
    const auto inner_parts = at(i).parts;
    for (auto inner : inner_parts)
      TROUPE_TRY(replace_reads(inner, replace));
  }
  return {};
}

bool flow_graph::has_effect(int i) const {
  const auto& tested = at(i);
  if (tested.kind == flow::loop || tested.kind == flow::branch)
    return true; // assumed: its parts may have effects
  if (tested.kind != flow::plain)
    return false;
  auto op = ops_.find_op(tested.def.op());
  return !op || (*op)->calls == call_kind::once || has((*op)->effects, effect::stateful) ||
         has((*op)->effects, effect::random) || has((*op)->effects, effect::blocking);
}

bool flow_graph::is_reference(source value) const {
  const auto& from = at(value.item);
  if (from.kind != flow::plain)
    return from.kind != flow::argument && from.by_ref;
  auto op = ops_.find_op(from.def.op());
  if (!op || value.output < 0 || static_cast<size_t>(value.output) >= (*op)->outputs.size())
    return false;
  const auto& port = (*op)->outputs[static_cast<size_t>(value.output)];
  return port.ref && !port.handle && port.state_kind == resource::variable;
}

int flow_graph::outputs_of(int i) const {
  const auto& tested = at(i);
  if (tested.kind == flow::loop)
    return static_cast<int>(tested.variables);
  if (tested.kind != flow::plain)
    return std::max(0, outputs_of_kind(tested.kind));
  auto op = ops_.find_op(tested.def.op());
  if (!op)
    return 0;
  constexpr int64_t max_outputs = 1000;
  int64_t count = 0;
  for (const auto& port : (*op)->outputs) {
    const auto* list =
        find(tested.def.attr(), std::string{port.count.empty() ? port.type : port.count});
    if (!port.count.empty())
      count += list ? std::clamp<int64_t>(list->i(), 0, max_outputs) : 0;
    else if (const auto* attr = (*op)->find_attr(port.type); attr && attr->kind == attr_kind::types)
      count += list ? list->list().type_size() : 0;
    else
      ++count;
  }
  return static_cast<int>(std::min(count, max_outputs));
}

result<std::vector<int>> flow_graph::ordered(const std::vector<int>& items) const {
  std::unordered_map<int, size_t> waits;
  for (auto i : items)
    waits.emplace(i, 0);
  std::unordered_map<int, std::vector<int>> after;
  auto add_dependency = [&](int input_item, int i) {
    if (input_item >= 0 && waits.contains(input_item)) {
      after[input_item].push_back(i);
      ++waits[i];
    }
  };
  for (auto i : items) {
    for (const auto& input : at(i).data)
      if (at(i).kind != flow::merge || input.item < 0 ||
          at(input.item).kind != flow::next_iteration)
        add_dependency(behind_exits(input).item, i);
    for (auto control : at(i).controls)
      add_dependency(behind_exits(control), i);
    for (auto earlier : at(i).order)
      add_dependency(earlier, i);
  }
  std::vector<int> order;
  for (auto i : items)
    if (waits[i] == 0)
      order.push_back(i);
  for (size_t next = 0; next < order.size(); ++next)
    if (auto waiting = after.find(order[next]); waiting != after.end())
      for (auto i : waiting->second)
        if (--waits[i] == 0)
          order.push_back(i);
  if (order.size() == items.size())
    return order;
  std::string names;
  int listed = 0;
  for (auto i : items)
    if (waits[i] > 0 && listed++ < 5)
      names += concat(names.empty() ? "" : ", ", described(i));
  return invalid(names, listed > 5 ? " and others" : "",
                 " need each other: only a NextIteration leads back, to a Merge");
}

} // namespace troupe::graph_def
