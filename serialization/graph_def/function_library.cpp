#include "troupe/serialization/graph_def/function_library.hpp"

#include "troupe/runtime/graph/function.hpp"
#include "troupe/serialization/graph_def/flow_graph.hpp"

#include <algorithm>

namespace troupe::graph_def {
namespace {

// Describes an output of an op like an argument of a function.
OpDef::ArgDef declared(const port& output_port, const op_def& op) {
  OpDef::ArgDef argument;
  argument.set_number_attr(std::string{output_port.count});
  if (const auto* attr = op.find_attr(output_port.type); attr && attr->kind == attr_kind::types)
    argument.set_type_list_attr(std::string{output_port.type});
  return argument;
}

} // namespace

const AttrValue* find(const attrs& attributes, const std::string& name) {
  auto entry = attributes.find(name);
  return entry == attributes.end() ? nullptr : &entry->second;
}

const AttrValue* find(const attrs& attributes, const std::string& name, const attrs& call_attrs) {
  const auto* value = find(attributes, name);
  return value && value->value_case() == AttrValue::kPlaceholder
             ? find(call_attrs, value->placeholder())
             : value;
}

result<size_t> tensors_of(const OpDef::ArgDef& argument, const attrs& attributes,
                          const attrs& call_attrs) {
  const auto& name =
      argument.number_attr().empty() ? argument.type_list_attr() : argument.number_attr();
  if (name.empty())
    return size_t{1};
  const auto* value = find(attributes, name, call_attrs);
  if (!value)
    return invalid("attribute ", name, " is missing");
  auto count = argument.number_attr().empty() ? value->list().type_size() : value->i();
  if (count < 0 || count > UINT16_MAX)
    return invalid("attribute ", name, " says ", count, " tensors");
  return static_cast<size_t>(count);
}

function_library::function_library(const FunctionDefLibrary& functions, const registry& ops)
    : ops_(ops) {
  for (const auto& item : functions.function())
    functions_.emplace(item.signature().name(), &item);
  for (const auto& item : functions.gradient())
    gradients_.emplace(item.function_name(), &item.gradient_func());
}

const FunctionDef* function_library::find(std::string_view name) const {
  auto entry = functions_.find(name);
  return entry == functions_.end() ? nullptr : entry->second;
}

const std::string* function_library::gradient_of(std::string_view name) const {
  auto entry = gradients_.find(name);
  return entry == gradients_.end() ? nullptr : entry->second;
}

function_call function_library::callee(const NodeDef& call) const {
  auto called = called_by(call);
  auto stays_call = called && (gradient_of(called.body->signature().name()) ||
                               (is_noinline(call, called) && !makes_state(*called.body)));
  return stays_call ? function_call{} : called;
}

bool function_library::is_noinline(const NodeDef& call, const function_call& called) {
  const auto* attribute = graph_def::find(call.attr(), noinline_attr);
  if (!attribute)
    attribute = graph_def::find(called.body->attr(), noinline_attr);
  return attribute && attribute->b();
}

bool function_library::makes_state(const FunctionDef& called) const {
  std::set<const FunctionDef*> seen;
  return makes_state(called, seen);
}

bool function_library::makes_state(const FunctionDef& called,
                                   std::set<const FunctionDef*>& seen) const {
  if (!seen.insert(&called).second)
    return false; // visited already
  return std::ranges::any_of(called.node_def(), [&](const NodeDef& node_def) {
    if (auto inner = called_by(node_def))
      return makes_state(*inner.body, seen);
    if (flow_of(node_def.op()) != flow::plain)
      return false;
    auto op = ops_.find_op(node_def.op());
    return op && outlives_steps(**op);
  });
}

function_call function_library::called_by(const NodeDef& call) const {
  auto partitioned = call.op() == "PartitionedCall" || call.op() == "StatefulPartitionedCall";
  const auto* f = partitioned ? graph_def::find(call.attr(), "f") : nullptr;
  auto entry = functions_.find(f ? f->func().name() : call.op());
  if (entry == functions_.end())
    return {};
  return {entry->second, f ? &f->func().attr() : &call.attr(), partitioned};
}

bool function_library::has_effect(const NodeDef& tested) const {
  auto stateful = [this](const NodeDef& node_def) {
    if (called_by(node_def))
      return true; // assumed: the function may have effects
    if (flow_of(node_def.op()) != flow::plain)
      return false;
    auto op = ops_.find_op(node_def.op());
    return op && has((*op)->effects, effect::stateful) && (*op)->state_kind == resource::none;
  };
  auto called = called_by(tested);
  return called ? std::ranges::any_of(called.body->node_def(), stateful) : stateful(tested);
}

result<size_t> function_library::first_of(const NodeDef& node, std::string_view output,
                                          const attrs& call_attrs) const {
  size_t first = 0;
  auto count_before = [&](std::string_view name, const OpDef::ArgDef& port) -> result<bool> {
    if (name == output)
      return false;
    TROUPE_ASSIGN(auto count, tensors_of(port, node.attr(), call_attrs));
    first += count;
    return true;
  };
  if (auto called = called_by(node); called && called.partitioned)
    return first;
  else if (called) {
    for (const auto& port : called.body->signature().output_arg()) {
      TROUPE_ASSIGN(auto is_before, count_before(port.name(), port));
      if (!is_before)
        return first;
    }
  } else if (flow_of(node.op()) != flow::plain) {
    if (auto index = flow_output(node.op(), output); index >= 0)
      return static_cast<size_t>(index);
  } else {
    auto op = ops_.find_op(node.op());
    if (!op)
      return op.status();
    for (const auto& port : (*op)->outputs) {
      TROUPE_ASSIGN(auto is_before, count_before(port.name, declared(port, **op)));
      if (!is_before)
        return first;
    }
  }
  return failure(error_kind::not_found, node.op(), " '", node.name(), "' has no output '", output,
                 "'");
}

} // namespace troupe::graph_def
