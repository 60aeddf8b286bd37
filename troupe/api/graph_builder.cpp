#include "troupe/api/graph_builder.hpp"

#include "troupe/api/error.hpp"
#include "troupe/api/library.hpp"
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/runtime/graph/registry.hpp"

#include <algorithm>
#include <cctype>

namespace troupe {

graph_scope::~graph_scope() {
  switch (what_) {
    case kind::name: of_.pop_scope(); break;
    case kind::device: of_.pop_device(); break;
    case kind::controls: of_.pop_controls(); break;
    case kind::recompute: static_cast<graph_builder&>(of_).end_recompute(); break;
  }
}

graph_builder::graph_builder() : graph(library()) {}

edge graph_builder::placeholder(dtype type, const partial_shape& dims, std::string_view name,
                                location where) {
  return detail::add_node(this, "Placeholder", {}, {{"dtype", type}, {"shape", dims}}, name, where)
      .output(0);
}

edge graph_builder::constant(operand value, std::string_view name, location where) {
  if (value.is_edge())
    throw error{invalid("constant (", to_string(where), "): '", value.from(),
                        "' is an edge; a constant is made from numbers or a tensor")};
  return detail::add_node(this, "Const", {},
                          {{"dtype", value.value().type()}, {"value", value.value()}}, name, where)
      .output(0);
}

variable_handle graph_builder::variable(operand initial, std::string_view name, location where) {
  if (initial.is_edge() && !initial.from())
    throw error{invalid("variable '", name, "' (", to_string(where),
                        "): its initial value is an edge to nothing")};
  auto type = initial.is_edge() ? initial.from().type() : initial.value().type();
  auto dims = initial.is_edge() ? initial.from().dims() : partial_shape{initial.value().dims()};
  auto made = add_variable(type, dims, name, where);
  auto& assign = detail::add_node(this, "Assign", {{made}, {initial}}, {},
                                  unscoped(made.name()) + "/init", where);
  made.initializer = variables_.back().initializer = &assign;
  return made;
}

variable_handle graph_builder::variable(dtype type, const partial_shape& dims,
                                        std::string_view name, location where) {
  return add_variable(type, dims, name, where);
}

variable_handle graph_builder::add_variable(dtype type, const partial_shape& dims,
                                            std::string_view name, location where) {
  auto& made =
      detail::add_node(this, "VariableV2", {}, {{"dtype", type}, {"shape", dims}}, name, where);
  return variables_.emplace_back(variable_handle{made.output(0), nullptr});
}

std::string graph_builder::unscoped(const std::string& name) const {
  return name.substr(graph::scope().size());
}

node* graph_builder::initializer(location where) {
  if (!initializer_ || initialized_ != variables_.size()) {
    std::vector<node*> all;
    for (const auto& one : variables_)
      if (one.initializer)
        all.push_back(one.initializer);
    initializer_ = group(all, {}, where);
    initialized_ = variables_.size();
  }
  return initializer_;
}

node* graph_builder::group(const std::vector<node*>& nodes, std::string_view name, location where) {
  return value_or_throw(
      add({.op = "NoOp", .name = std::string{name}, .controls = nodes, .where = where}));
}

result<node*> graph_builder::add(node_spec spec) {
  auto unset = [&](const char* name) {
    auto it = spec.attrs.find(name);
    if (it == spec.attrs.end())
      return true;
    auto* value = it->second.get_if<int64_t>();
    return value && *value == 0;
  };
  if (random_seed_ && unset("seed") && unset("seed2"))
    if (auto op = ops().find_op(spec.op); op && (*op)->find_attr("seed2")) {
      spec.attrs["seed"] = *random_seed_;
      spec.attrs["seed2"] = static_cast<int64_t>(nodes().size());
    }
  return graph::add(std::move(spec));
}

graph_scope graph_builder::scope(std::string_view name, location where) {
  auto good = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
  };
  if (name.empty() || name[0] == '-' || !std::ranges::all_of(name, good))
    throw error{invalid("scope (", to_string(where), "): '", name,
                        "' is no name: letters, digits and _ . - only, not first -")};
  push_scope(name);
  return {*this, graph_scope::kind::name};
}

graph_scope graph_builder::on(std::string_view device, location where) {
  if (auto parsed = device_name::parse(device); !parsed)
    throw error{parsed.status().within(concat("on (", to_string(where), ')'))};
  push_device(std::string{device});
  return {*this, graph_scope::kind::device};
}

graph_scope graph_builder::after(std::vector<node*> nodes, location where) {
  for (auto* one : nodes)
    if (!one || &one->graph() != this)
      throw error{invalid("after (", to_string(where), "): a node of another graph, or none")};
  push_controls(std::move(nodes));
  return {*this, graph_scope::kind::controls};
}

graph_scope graph_builder::recompute() {
  if (open_recomputes_++ == 0)
    recomputed_.push_back({nodes().size(), nodes().size()});
  return {*this, graph_scope::kind::recompute};
}

void graph_builder::end_recompute() noexcept {
  if (--open_recomputes_ == 0)
    recomputed_.back().end = nodes().size();
}

std::vector<edge> graph_builder::gradients(const std::vector<edge>& ys, const std::vector<edge>& xs,
                                           const gradient_options& options, location where) {
  if (recomputed_.empty())
    return value_or_throw(troupe::gradients(ys, xs, options, where));
  auto all = options;
  for (const auto& [first, end] : recomputed_) {
    auto& part = all.recompute.emplace_back();
    for (size_t i = first; i < end; ++i)
      part.push_back(nodes()[i].get());
  }
  return value_or_throw(troupe::gradients(ys, xs, all, where));
}

} // namespace troupe
