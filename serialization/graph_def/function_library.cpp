#include "troupe/serialization/graph_def/function_library.hpp"

#include "troupe/runtime/graph/function.hpp"
#include "troupe/serialization/graph_def/flow_graph.hpp"

#include <algorithm>

namespace troupe::graph_def {
namespace {

// An output of an op, as a function would declare it.
OpDef::ArgDef declared(const port& of, const op_def& op) {
  OpDef::ArgDef like;
  like.set_number_attr(std::string{of.count});
  if (const auto* attr = op.find_attr(of.type); attr && attr->kind == attr_kind::types)
    like.set_type_list_attr(std::string{of.type});
  return like;
}

} // namespace

const AttrValue* find(const attrs& in, const std::string& name) {
  auto found = in.find(name);
  return found == in.end() ? nullptr : &found->second;
}

const AttrValue* find(const attrs& in, const std::string& name, const attrs& given) {
  const auto* found = find(in, name);
  return found && found->value_case() == AttrValue::kPlaceholder ? find(given, found->placeholder())
                                                                 : found;
}

result<size_t> tensors_of(const OpDef::ArgDef& of, const attrs& in, const attrs& given) {
  const auto& name = of.number_attr().empty() ? of.type_list_attr() : of.number_attr();
  if (name.empty())
    return size_t{1};
  const auto* value = find(in, name, given);
  if (!value)
    return invalid("attribute ", name, " is missing");
  auto count = of.number_attr().empty() ? value->list().type_size() : value->i();
  if (count < 0 || count > UINT16_MAX)
    return invalid("attribute ", name, " says ", count, " tensors");
  return static_cast<size_t>(count);
}

function_library::function_library(const FunctionDefLibrary& functions, const registry& ops)
    : ops_(ops) {
  for (const auto& each : functions.function())
    functions_.emplace(each.signature().name(), &each);
  for (const auto& each : functions.gradient())
    gradients_.emplace(each.function_name(), &each.gradient_func());
}

const FunctionDef* function_library::find(std::string_view name) const {
  auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : found->second;
}

const std::string* function_library::gradient_of(std::string_view name) const {
  auto found = gradients_.find(name);
  return found == gradients_.end() ? nullptr : found->second;
}

function_call function_library::callee(const NodeDef& of) const {
  auto found = called_by(of);
  auto stays = found && (gradient_of(found.body->signature().name()) ||
                         (is_noinline(of, found) && !makes_state(*found.body)));
  return stays ? function_call{} : found;
}

bool function_library::is_noinline(const NodeDef& of, const function_call& called) {
  const auto* said = graph_def::find(of.attr(), noinline_attr);
  if (!said)
    said = graph_def::find(called.body->attr(), noinline_attr);
  return said && said->b();
}

bool function_library::makes_state(const FunctionDef& called) const {
  std::set<const FunctionDef*> seen;
  return makes_state(called, seen);
}

bool function_library::makes_state(const FunctionDef& called,
                                   std::set<const FunctionDef*>& seen) const {
  if (!seen.insert(&called).second)
    return false; // if it does, that is known already
  return std::ranges::any_of(called.node_def(), [&](const NodeDef& each) {
    if (auto inner = called_by(each))
      return makes_state(*inner.body, seen);
    if (flow_of(each.op()) != flow::plain)
      return false;
    auto op = ops_.find_op(each.op());
    return op && outlives_steps(**op);
  });
}

function_call function_library::called_by(const NodeDef& of) const {
  auto partitioned = of.op() == "PartitionedCall" || of.op() == "StatefulPartitionedCall";
  const auto* f = partitioned ? graph_def::find(of.attr(), "f") : nullptr;
  auto found = functions_.find(f ? f->func().name() : of.op());
  if (found == functions_.end())
    return {};
  return {found->second, f ? &f->func().attr() : &of.attr(), partitioned};
}

bool function_library::has_effect(const NodeDef& of) const {
  auto stateful = [this](const NodeDef& each) {
    if (called_by(each))
      return true; // it may well have some
    if (flow_of(each.op()) != flow::plain)
      return false;
    auto op = ops_.find_op(each.op());
    return op && has((*op)->effects, effect::stateful) && (*op)->makes == resource::none;
  };
  auto called = called_by(of);
  return called ? std::ranges::any_of(called.body->node_def(), stateful) : stateful(of);
}

result<size_t> function_library::first_of(const NodeDef& node, std::string_view output,
                                          const attrs& given) const {
  size_t first = 0;
  auto passes = [&](std::string_view name, const OpDef::ArgDef& each) -> result<bool> {
    if (name == output)
      return false;
    TROUPE_ASSIGN(auto count, tensors_of(each, node.attr(), given));
    first += count;
    return true;
  };
  if (auto called = called_by(node); called && called.partitioned)
    return first;
  else if (called) {
    for (const auto& each : called.body->signature().output_arg()) {
      TROUPE_ASSIGN(auto further, passes(each.name(), each));
      if (!further)
        return first;
    }
  } else if (flow_of(node.op()) != flow::plain) {
    if (auto index = flow_output(node.op(), output); index >= 0)
      return static_cast<size_t>(index);
  } else {
    auto op = ops_.find_op(node.op());
    if (!op)
      return op.status();
    for (const auto& each : (*op)->outputs) {
      TROUPE_ASSIGN(auto further, passes(each.name, declared(each, **op)));
      if (!further)
        return first;
    }
  }
  return failure(error_kind::not_found, node.op(), " '", node.name(), "' has no output '", output,
                 "'");
}

} // namespace troupe::graph_def
