#include "troupe/api/graph_builder.hpp"
// Placeholders, constants, variables, scopes and gradients of a graph_builder.

#include "troupe/api/error.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/runtime/passes/rewriter.hpp"

#include <algorithm>
#include <cctype>
#include <set>

namespace troupe {

namespace {

graph::scope_kind stack_of(graph_scope::kind scope) {
  switch (scope) {
    case graph_scope::kind::device: return graph::scope_kind::device;
    case graph_scope::kind::controls: return graph::scope_kind::controls;
    default: return graph::scope_kind::name;
  }
}

} // namespace

graph_scope::graph_scope(graph& owner, kind scope_kind) noexcept
    : graph_(owner), kind_(scope_kind), depth_(owner.depth(stack_of(scope_kind))) {
  if (scope_kind == kind::transfer) {
    const auto* builder = dynamic_cast<graph_builder*>(&owner);
    depth_ = builder ? builder->transfers_.size() : 0;
  }
}

graph_scope::~graph_scope() {
  if (kind_ == kind::recompute) {
    graph_.end_recompute();
    return;
  }
  if (depth_ == 0) // no scope was open
    return;
  if (kind_ == kind::transfer) {
    auto& open = static_cast<graph_builder&>(graph_).transfers_;
    open.resize(std::min(open.size(), depth_ - 1));
    return;
  }
  while (graph_.depth(stack_of(kind_)) >= depth_)
    switch (kind_) {
      case kind::device: graph_.pop_device(); break;
      case kind::controls: graph_.pop_controls(); break;
      default: graph_.pop_scope(); break;
    }
  if (auto* builder = dynamic_cast<graph_builder*>(&graph_); builder && kind_ == kind::device)
    builder->device_scopes_.pop_to(graph_.depth(graph::scope_kind::device));
}

graph_builder::graph_builder() : graph(library()) {}

edge graph_builder::placeholder(dtype type, const partial_shape& dims, std::string_view name,
                                location where) {
  return detail::add_node(this, "Placeholder", {}, {{"dtype", type}, {"shape", dims}}, name, where)
      .output(0);
}

edge graph_builder::constant(operand value, std::string_view name, location where) {
  if (value.is_edge())
    throw error{invalid("constant (", to_string(where), "): '", value.source(),
                        "' is an edge; a constant is made from numbers or a tensor")};
  return detail::add_node(this, "Const", {},
                          {{"dtype", value.value().type()}, {"value", value.value()}}, name, where)
      .output(0);
}

variable_handle graph_builder::variable(operand initial, std::string_view name, location where) {
  return detail::add_variable(*this, std::move(initial), name, where);
}

namespace {

variable_handle add_empty(graph& in, std::string_view op, dtype type, const partial_shape& dims,
                          std::string_view name, std::source_location where) {
  variable_handle variable{
      detail::add_node(&in, op, {}, {{"dtype", type}, {"shape", dims}}, name, where).output(0)};
  in.record_variable(variable);
  return variable;
}

} // namespace

variable_handle graph_builder::variable(dtype type, const partial_shape& dims,
                                        std::string_view name, location where) {
  return add_empty(*this, "VariableV2", type, dims, name, where);
}

variable_handle graph_builder::resource_variable(operand initial, std::string_view name,
                                                 location where) {
  return detail::add_variable(*this, std::move(initial), name, where, {.use_resource = true});
}

variable_handle graph_builder::resource_variable(dtype type, const partial_shape& dims,
                                                 std::string_view name, location where) {
  return add_empty(*this, "VarHandleOp", type, dims, name, where);
}

variable_handle graph_builder::local_variable(const tensor& initial, std::string_view name,
                                              location where) {
  return detail::add_variable(*this, initial, name, where, {.attrs = {{"_local", true}}});
}

node* graph_builder::local_initializer(location where) {
  return group(detail::local_initializers(*this), {}, where);
}

node* graph_builder::initializer(location where) {
  if (!initializer_ || initialized_ != variables().size()) {
    std::vector<node*> initializers;
    for (const auto& variable : variables())
      if (variable.initializer)
        initializers.push_back(variable.initializer);
    initializer_ = group(initializers, {}, where);
    initialized_ = variables().size();
  }
  return initializer_;
}

node* graph_builder::group(const std::vector<node*>& nodes, std::string_view name, location where) {
  return detail::add_group(*this, nodes, name, where);
}

graph_scope graph_builder::scope(std::string_view name, location where) {
  auto is_allowed = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
  };
  if (name.empty() || name[0] == '-' || !std::ranges::all_of(name, is_allowed))
    throw error{
        invalid("scope (", to_string(where), "): '", name,
                "' is not a valid scope name: letters, digits and _ . - only, not first -")};
  push_scope(name);
  return {*this, graph_scope::kind::name};
}

graph_scope graph_builder::on(std::string_view device, location where) {
  auto parsed = device_name::parse(device);
  if (!parsed)
    throw error{parsed.status().with_context(concat("on (", to_string(where), ')'))};
  if (&innermost() == this)
    device_scopes_.push(*this, *parsed, device);
  else
    push_device(std::string{device});
  return {*this, graph_scope::kind::device};
}

graph_scope graph_builder::on(device_function choose, location where) {
  if (!choose)
    throw error{invalid("on (", to_string(where), "): the device function is empty")};
  if (&innermost() != this)
    throw error{invalid("on (", to_string(where),
                        "): a device function cannot choose within a function of the graph")};
  device_scopes_.push(*this, std::move(choose));
  return {*this, graph_scope::kind::device};
}

graph_scope graph_builder::colocate_with(edge neighbor, location where) {
  if (neighbor.is_empty() || &neighbor.node->graph() != this || &innermost() != this)
    throw error{invalid("colocate_with (", to_string(where),
                        "): needs a node of this graph, outside of its functions")};
  device_scopes_.push(*this, *neighbor.node);
  return {*this, graph_scope::kind::device};
}

void graph_builder::choose_device(node_spec& spec, const op_def& op) const {
  device_scopes_.apply(*this, spec, op);
}

graph_scope graph_builder::after(std::vector<node*> nodes, location where) {
  for (auto* predecessor : nodes)
    if (!predecessor || !innermost().is_in_scope(*predecessor))
      throw error{invalid("after (", to_string(where), "): a node is null or of another graph")};
  push_controls(std::move(nodes));
  return {*this, graph_scope::kind::controls};
}

graph_scope graph_builder::transfer(f32_transfer encoding) {
  transfers_.push_back(encoding);
  return {*this, graph_scope::kind::transfer};
}

void graph_builder::choose_transfer(node& added) const {
  if (!transfers_.empty() && &added.graph() == this)
    rewriter::set_transfer(added, transfers_.back());
}

graph_scope graph_builder::recompute() {
  begin_recompute();
  return {*this, graph_scope::kind::recompute};
}

std::vector<edge> graph_builder::gradients(const std::vector<edge>& ys, const std::vector<edge>& xs,
                                           const gradient_options& options, location where) {
  return detail::add_gradients(*this, ys, xs, options, where);
}

namespace detail {

variable_handle add_variable(graph& in, operand initial, std::string_view name,
                             std::source_location where, const variable_spec& spec) {
  if (initial.is_edge() && initial.source().is_empty())
    throw error{invalid("variable '", name, "' (", to_string(where),
                        "): its initial value is an empty edge")};
  auto type = initial.is_edge() ? initial.source().type() : initial.value().type();
  auto dims = initial.is_edge() ? initial.source().dims() : partial_shape{initial.value().dims()};
  auto attrs = spec.attrs;
  attrs["dtype"] = type;
  attrs["shape"] = dims;
  variable_handle variable{
      add_node(&in, spec.use_resource ? "VarHandleOp" : "VariableV2", {}, attrs, name, where)
          .output(0)};
  auto unscoped = variable.name().substr(in.scope().size());
  variable.initializer =
      &add_node(&in, spec.use_resource ? "AssignVariableOp" : "Assign",
                {{variable}, {std::move(initial)}}, {}, unscoped + "/init", where);
  in.record_variable(variable);
  return variable;
}

bool is_resource_variable(edge variable) {
  const auto* resource_node = resource_behind(variable);
  return resource_node && resource_node->op().state_kind == resource::variable &&
         resource_node->op().outputs[0].handle;
}

bool is_local_variable(const node& variable) {
  if (variable.op().state_kind != resource::variable)
    return false;
  auto local = variable.attrs().find("_local");
  return local != variable.attrs().end() && *local->second.get_if<bool>();
}

std::vector<edge> model_variables(const graph& in) {
  std::vector<edge> variables;
  for (const auto& candidate : in.nodes())
    if (candidate->op().state_kind == resource::variable && !candidate->op().per_step &&
        !is_local_variable(*candidate))
      variables.push_back({candidate.get(), 0});
  return variables;
}

std::vector<edge> local_variables(const graph& in) {
  std::vector<edge> variables;
  for (const auto& variable : in.variables())
    if (variable.initializer && is_local_variable(*variable.ref.node))
      variables.push_back(variable);
  return variables;
}

std::vector<node*> local_initializers(const graph& in) {
  std::vector<node*> initializers;
  for (const auto& variable : in.variables())
    if (variable.initializer && is_local_variable(*variable.ref.node))
      initializers.push_back(variable.initializer);
  return initializers;
}

void choose_transfer(node& added) {
  if (const auto* builder = dynamic_cast<const graph_builder*>(&added.graph()))
    builder->choose_transfer(added);
}

node* add_group(graph& in, const std::vector<node*>& nodes, std::string_view name,
                std::source_location where) {
  node_spec spec{.op = "NoOp", .name = std::string{name}, .controls = nodes, .where = where};
  if (const auto* builder = dynamic_cast<const graph_builder*>(&in);
      builder && &in.innermost() == &in)
    builder->choose_device(spec, *value_or_throw(in.ops().find_op(spec.op)));
  return value_or_throw(in.add(std::move(spec)));
}

std::vector<edge> add_gradients(graph& in, const std::vector<edge>& ys, const std::vector<edge>& xs,
                                const gradient_options& options, std::source_location where) {
  auto all_options = options;
  auto parts = in.recomputed_parts();
  std::ranges::move(parts, std::back_inserter(all_options.recomputed_parts));
  std::set<const node*> before; // new nodes are not always at the end
  for (const auto& existing : in.nodes())
    before.insert(existing.get());
  auto gradients = value_or_throw(troupe::gradients(ys, xs, all_options, where));
  for (const auto& added : in.nodes())
    if (!before.contains(added.get()))
      choose_transfer(*added);
  return gradients;
}

} // namespace detail
} // namespace troupe
