#include "troupe/serialization/graph_def/add_nodes.hpp"

#include "troupe/runtime/device/preferred_device.hpp"
#include "troupe/runtime/functions/function_body.hpp"
#include "troupe/runtime/graph/colocation.hpp"
#include "troupe/runtime/graph/function.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/runtime/graph/transfer_attr.hpp"
#include "troupe/serialization/graph_def/function_library.hpp"
#include "troupe/serialization/graph_def/input_name.hpp"
#include "troupe/serialization/graph_def/read_raised.hpp"
#include "troupe/serialization/graph_def/values.hpp"
#include "troupe/serialization/wire/input_order.hpp"
#include "troupe/serialization/wire/origin.hpp"

#include <algorithm>

namespace troupe::graph_def {
namespace {

// Attributes that ask for a way of computing, or say what gradients need; results do not depend on
// them.
constexpr std::string_view harmless[] = {
    "Index",       "Tidx",      "Tindices",         "Tshape",      "allowed_devices",
    "debug_name",  "grad_a",    "grad_b",           "grad_x",      "grad_y",
    "shared_name", "container", "use_cudnn_on_gpu", "use_locking", "validate_indices",
};

// What an attribute is set to when the feature behind it is not used.
bool is_off(const AttrValue& value) {
  switch (value.value_case()) {
    case AttrValue::kB: return !value.b();
    case AttrValue::kI: return value.i() == 0;
    case AttrValue::kF: return value.f() == 0;
    case AttrValue::kS: return value.s().empty();
    case AttrValue::kList: return value.list().ByteSizeLong() == 0;
    default: return false;
  }
}

bool may_be_dropped(const std::string& name, const AttrValue& value) {
  return name.starts_with('_') || is_off(value) || std::ranges::count(harmless, name) > 0;
}

// Under this name TensorFlow shares a variable with nobody: another one for each node.
constexpr std::string_view anonymous = "cd2c89b7-88b7-44c8-ad83-06c2a9158347";

class graph_def_reader {
public:
  graph_def_reader(const GraphDef& from, graph& into, const function_source& with,
                   const outer_names& around)
      : nodes_(from.node()), into_(into), with_(with), around_(around),
        file_(with.options.file), budget_{with.options.filled_bytes} {}

  void give(const std::map<std::string, edge>& nodes) {
    for (const auto& [name, one] : nodes)
      passed_[name] = {one, nullptr};
  }

  result<passed_handles> read() {
    TROUPE_TRY(index_names());
    TROUPE_ASSIGN(auto before, predecessors());
    TROUPE_ASSIGN(auto order, order_after_inputs(before, [this](uint32_t position) {
                    return description(at(position));
                  }));
    added_.resize(before.size());
    for (auto position : order) {
      auto made = add(at(position));
      if (!made)
        return made.status();
      added_[position] = *made;
    }
    return std::move(passed_);
  }

private:
  const NodeDef& at(uint32_t position) const { return nodes_[static_cast<int>(position)]; }

  std::string description(const NodeDef& of) const {
    return concat(of.op(), " '", of.name(), "' (", file_, ')');
  }

  status index_names() {
    for (uint32_t i = 0; i < static_cast<uint32_t>(nodes_.size()); ++i)
      if (auto [first, fresh] = by_name_.emplace(at(i).name(), i); !fresh)
        return failure(error_kind::already_exists, description(at(i)),
                       ": the name is used already by ", description(at(first->second)));
    return {};
  }

  result<uint32_t> position_of(std::string_view name) const {
    if (auto found = by_name_.find(name); found != by_name_.end())
      return found->second;
    std::vector<std::string_view> known;
    for (const auto& each : nodes_)
      known.push_back(each.name());
    return failure(error_kind::not_found, "there is no node '", name, "'",
                   did_you_mean(name, known));
  }

  result<std::vector<std::vector<uint32_t>>> predecessors() const {
    std::vector<std::vector<uint32_t>> before;
    before.reserve(static_cast<size_t>(nodes_.size()));
    for (const auto& each : nodes_) {
      auto& inputs = before.emplace_back();
      for (const auto& text : each.input()) {
        auto name = input_name::parse(text);
        if (name && around_ && !by_name_.contains(name->node))
          continue;
        auto position = name ? position_of(name->node) : result<uint32_t>{name.status()};
        if (!position)
          return position.status().within(description(each));
        inputs.push_back(*position);
      }
    }
    return before;
  }

  result<node*> add(const NodeDef& from) {
    if (auto given = passed_.find(from.name()); given != passed_.end())
      return given->second.of.node;
    node_spec spec;
    spec.op = from.op();
    spec.name = from.name();
    spec.device = preferred_device(from.device());
    TROUPE_TRY(connect(spec, from).within(description(from)));
    if (const auto* raised = raised_from(from)) {
      auto find = [this](const std::string& text) -> result<edge> {
        TROUPE_ASSIGN(auto name, input_name::parse(text));
        return edge_of(name, text);
      };
      if (raised->is_loop)
        spec.attrs["parallel_iterations"] = from.attr().at("parallel_iterations").i();
      TROUPE_TRY(add_functions(spec, *raised, into_, with_, find).within(description(from)));
      return add_with_origin(into_, std::move(spec), file_);
    }
    auto passes = from.op() == "Identity" && spec.inputs.size() == 1 && is_handle(spec.inputs[0]) &&
                  !gives_value(from);
    auto handle = passes ? std::exchange(spec.inputs, {})[0] : edge{};
    if (passes)
      spec.op = "NoOp";
    else
      TROUPE_TRY(fill(spec, from).within(description(from)));
    TROUPE_ASSIGN(auto* made, add_with_origin(into_, std::move(spec), file_));
    if (passes)
      passed_[from.name()] = {handle, made};
    return made;
  }

  // In a graph of TensorFlow, who is given a handle takes it as it is.
  static bool is_handle(edge what) {
    const auto* behind = what.node->output_is_ref(what.index) ? resource_behind(what) : nullptr;
    return behind && (behind->op().outputs[0].handle || behind->op().makes != resource::variable);
  }

  static bool gives_value(const NodeDef& of) {
    auto type = of.attr().find("T");
    return type != of.attr().end() && type->second.type() != DT_RESOURCE;
  }

  status connect(node_spec& spec, const NodeDef& from) {
    for (const auto& text : from.input()) {
      auto name = *input_name::parse(text); // predecessors() has read it
      if (auto found = by_name_.find(name.node); found != by_name_.end()) {
        auto* producer = added_[found->second];
        auto passed = passed_.find(std::string{name.node});
        auto waits = name.control || (passed != passed_.end() && name.output == 0 &&
                                      passed->second.after && !producer->controls().empty());
        if (waits)
          spec.controls.push_back(producer);
        if (name.control)
          continue;
      }
      TROUPE_ASSIGN(auto input, edge_of(name, text));
      spec.inputs.push_back(input);
    }
    return {};
  }

  result<edge> edge_of(const input_name& name, const std::string& text) const {
    auto found = by_name_.find(name.node);
    if (found == by_name_.end())
      return around_ ? around_(text)
                     : failure(error_kind::not_found, "there is no node '", name.node, '\'');
    auto passed = passed_.find(std::string{name.node});
    if (passed != passed_.end() && name.output == 0)
      return passed->second.of;
    auto* producer = added_[found->second];
    if (name.output < producer->outputs())
      return producer->output(name.output);
    return invalid("there is no output '", text, "', ", producer->description(), " has ",
                   producer->outputs());
  }

  const raised_node* raised_from(const NodeDef& from) const {
    if (!with_.raised)
      return nullptr;
    auto found = with_.raised->nodes.find(from.name());
    return found == with_.raised->nodes.end() ? nullptr : &found->second;
  }

  status fill(node_spec& spec, const NodeDef& from) {
    TROUPE_ASSIGN(const auto* op, into_.ops().find_op(spec.op));
    // In a fixed order, so that errors are always the same.
    std::map<std::string_view, const AttrValue*> attrs;
    for (const auto& [name, value] : from.attr())
      attrs.emplace(name, &value);
    for (const auto& [view, value] : attrs) {
      std::string name{view};
      if (const auto* as = op->find_attr(name)) {
        if (op->calls != calling::never && as->kind == attr_kind::types)
          continue; // TensorFlow calls what variables hold "resource": it follows from the inputs
        if (value->has_func() || value->list().func_size() > 0)
          continue; // see below
        if (name == "shared_name" && value->s() == anonymous)
          continue;
        if (as->kind == attr_kind::type && follows_from(name, spec, *op) &&
            value->type() != DT_VARIANT)
          continue;
        TROUPE_ASSIGN(auto read, read_attr(renamed_handles(*value, name, spec, *op), *as, budget_));
        spec.attrs.emplace(std::move(name), std::move(read));
      } else if (name == colocation_attr) {
        TROUPE_TRY(read_colocation(*value, spec));
      } else if (name == transfer_attr) {
        spec.attrs.emplace(std::move(name), value->s());
      } else if (!may_be_dropped(name, *value)) {
        return failure(error_kind::unimplemented, "there is no attribute '", name,
                       "', which the file sets to { ", to_text(*value), " }");
      }
    }
    return op->calls == calling::never ? status{} : fill_functions(spec, from, *op);
  }

  // Names are those of the file, in the scope that it is read into. What is no "loc:@" means
  // nothing here, and a node's own group says nothing. What is in a function runs where its caller
  // does.
  status read_colocation(const AttrValue& value, node_spec& spec) const {
    if (dynamic_cast<const function_body*>(&into_))
      return {};
    std::vector<std::string> names;
    for (std::string_view one : value.list().s())
      if (one.starts_with(colocation_prefix) && one.size() > colocation_prefix.size() &&
          one.substr(colocation_prefix.size()) != spec.name)
        names.push_back(concat(into_.scope(), one.substr(colocation_prefix.size())));
    add_colocation(spec.attrs, names);
    return {};
  }

  // TensorFlow calls the handle of a TensorArray or a stack a resource, or text, and we a value of
  // type variant.
  static bool is_handle_value(edge what) {
    return what.type() == dtype::variant && !what.node->output_is_ref(what.index);
  }

  // The input that a port of this type takes first, if there is one.
  static edge input_of_type(std::string_view attr, const node_spec& spec, const op_def& op) {
    for (size_t i = 0; i < op.inputs.size() && i < spec.inputs.size(); ++i) {
      const auto* type = op.find_attr(op.inputs[i].type);
      if (op.inputs[i].type == attr)
        return spec.inputs[i];
      if (!op.inputs[i].count.empty() || (type && type->kind == attr_kind::types))
        break;
    }
    return {};
  }

  static bool follows_from(std::string_view attr, const node_spec& spec, const op_def& op) {
    auto input = input_of_type(attr, spec, op);
    return input && is_handle_value(input);
  }

  // The attribute, with our type for handles where they come from inputs, and what stacks and lists
  // keep of them.
  static AttrValue renamed_handles(AttrValue value, std::string_view attr, const node_spec& spec,
                                   const op_def& op) {
    if (value.type() == DT_RESOURCE &&
        (op.name.starts_with("Stack") || (!spec.inputs.empty() && is_handle_value(spec.inputs[0]))))
      value.set_type(DT_VARIANT);
    if (op.inputs.size() == 1 && op.inputs[0].type == attr)
      for (int i = 0; i < value.list().type_size(); ++i)
        if (static_cast<size_t>(i) < spec.inputs.size() &&
            is_handle_value(spec.inputs[static_cast<size_t>(i)]))
          value.mutable_list()->set_type(i, DT_VARIANT);
    return value;
  }

  status fill_functions(node_spec& spec, const NodeDef& from, const op_def& op) {
    auto first = static_cast<size_t>(first_argument(op));
    if (spec.inputs.size() < first)
      return invalid("has ", spec.inputs.size(), " inputs");
    std::vector<edge> arguments(spec.inputs.begin() + static_cast<std::ptrdiff_t>(first),
                                spec.inputs.end());
    std::vector<partial_shape> dims;
    if (op.calls != calling::while_true)
      for (const auto& one : arguments)
        dims.push_back(one.dims());
    else if (auto given = spec.attrs.find("output_shapes"); given != spec.attrs.end())
      dims = *given->second.get_if<std::vector<partial_shape>>();
    if (op.calls == calling::while_true && !dims.empty()) {
      for (size_t i = 0; i < dims.size() && i < arguments.size(); ++i)
        if (is_handle_value(arguments[i]))
          dims[i] = arguments[i].dims(); // TensorFlow's have another shape
      spec.attrs["output_shapes"] = dims;
    }
    auto read = [&](const NameAttrList& which) {
      return read_function(which, into_, arguments, dims, with_);
    };
    for (const auto& attr : op.attrs) {
      auto it = from.attr().find(std::string{attr.name});
      if (it == from.attr().end())
        continue;
      if (attr.kind == attr_kind::function) {
        TROUPE_ASSIGN(auto value, read(it->second.func()));
        spec.attrs[std::string{attr.name}] = std::move(value);
      } else if (attr.kind == attr_kind::functions) {
        std::vector<function_value> values;
        for (const auto& each : it->second.list().func()) {
          TROUPE_ASSIGN(auto value, read(each));
          values.push_back(std::move(value));
        }
        spec.attrs[std::string{attr.name}] = std::move(values);
      }
    }
    // What TensorFlow takes for a function without effects may have some.
    if (auto noinline = spec.attrs.find(noinline_attr);
        noinline != spec.attrs.end() && *noinline->second.get_if<bool>())
      for (const auto* f : functions_of(op, spec.attrs))
        if (f->body && f->body->has_effects())
          spec.op = "StatefulPartitionedCall";
    return {};
  }

  const google::protobuf::RepeatedPtrField<NodeDef>& nodes_;
  graph& into_;
  const function_source& with_;
  const outer_names& around_;
  const std::string& file_;
  fill_budget budget_;
  std::unordered_map<std::string_view, uint32_t> by_name_;
  std::vector<node*> added_;
  passed_handles passed_;
};

} // namespace

result<passed_handles> add_nodes(const GraphDef& from, graph& into, const function_source& with,
                                 const std::map<std::string, edge>& given,
                                 const outer_names& around) {
  graph_def_reader reader{from, into, with, around};
  reader.give(given);
  return reader.read();
}

} // namespace troupe::graph_def
