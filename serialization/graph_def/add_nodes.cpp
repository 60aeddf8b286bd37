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

// Attributes that choose a way of computing, or that only gradients use. Results do not depend on
// them.
constexpr std::string_view harmless[] = {
    "Index",       "Tidx",      "Tindices",         "Tshape",      "allowed_devices",
    "debug_name",  "grad_a",    "grad_b",           "grad_x",      "grad_y",
    "shared_name", "container", "use_cudnn_on_gpu", "use_locking", "validate_indices",
};

// Whether an attribute has the value of an unused feature.
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

// The shared_name of variables that TensorFlow does not share: each node has its own.
constexpr std::string_view anonymous = "cd2c89b7-88b7-44c8-ad83-06c2a9158347";

class graph_def_reader {
public:
  graph_def_reader(const GraphDef& from, graph& target, const function_source& source,
                   const outer_names& outer)
      : nodes_(from.node()), target_(target), source_(source), outer_(outer),
        file_(source.options.file), budget_{source.options.filled_bytes} {}

  void add_given(const std::map<std::string, edge>& nodes) {
    for (const auto& [name, given_edge] : nodes)
      passed_[name] = {given_edge, nullptr};
  }

  result<passed_handles> read() {
    TROUPE_TRY(index_names());
    TROUPE_ASSIGN(auto inputs_of_nodes, predecessors());
    TROUPE_ASSIGN(auto order, order_after_inputs(inputs_of_nodes, [this](uint32_t position) {
                    return description(at(position));
                  }));
    added_.resize(inputs_of_nodes.size());
    for (auto position : order) {
      auto added = add(at(position));
      if (!added)
        return added.status();
      added_[position] = *added;
    }
    return std::move(passed_);
  }

private:
  const NodeDef& at(uint32_t position) const { return nodes_[static_cast<int>(position)]; }

  std::string description(const NodeDef& described) const {
    return concat(described.op(), " '", described.name(), "' (", file_, ')');
  }

  status index_names() {
    for (uint32_t i = 0; i < static_cast<uint32_t>(nodes_.size()); ++i)
      if (auto [first, is_new] = by_name_.emplace(at(i).name(), i); !is_new)
        return failure(error_kind::already_exists, description(at(i)),
                       ": the name is used already by ", description(at(first->second)));
    return {};
  }

  result<uint32_t> position_of(std::string_view name) const {
    if (auto entry = by_name_.find(name); entry != by_name_.end())
      return entry->second;
    std::vector<std::string_view> known;
    for (const auto& known_node : nodes_)
      known.push_back(known_node.name());
    return failure(error_kind::not_found, "there is no node '", name, "'",
                   did_you_mean(name, known));
  }

  result<std::vector<std::vector<uint32_t>>> predecessors() const {
    std::vector<std::vector<uint32_t>> inputs_of_nodes;
    inputs_of_nodes.reserve(static_cast<size_t>(nodes_.size()));
    for (const auto& node_def : nodes_) {
      auto& inputs = inputs_of_nodes.emplace_back();
      for (const auto& text : node_def.input()) {
        auto name = input_name::parse(text);
        if (name && outer_ && !by_name_.contains(name->node))
          continue;
        auto position = name ? position_of(name->node) : result<uint32_t>{name.status()};
        if (!position)
          return position.status().with_context(description(node_def));
        inputs.push_back(*position);
      }
    }
    return inputs_of_nodes;
  }

  result<node*> add(const NodeDef& from) {
    if (auto passed = passed_.find(from.name()); passed != passed_.end())
      return passed->second.target.node;
    node_spec spec;
    spec.op = from.op();
    spec.name = from.name();
    spec.device = preferred_device(from.device());
    TROUPE_TRY(connect(spec, from).with_context(description(from)));
    if (const auto* raised = raised_from(from)) {
      auto find = [this](const std::string& text) -> result<edge> {
        TROUPE_ASSIGN(auto name, input_name::parse(text));
        return edge_of(name, text);
      };
      if (raised->is_loop)
        spec.attrs["parallel_iterations"] = from.attr().at("parallel_iterations").i();
      TROUPE_TRY(
          add_functions(spec, *raised, target_, source_, find).with_context(description(from)));
      return add_with_origin(target_, std::move(spec), file_);
    }
    auto is_pass_through = from.op() == "Identity" && spec.inputs.size() == 1 &&
                           is_handle(spec.inputs[0]) && !gives_value(from);
    auto handle = is_pass_through ? std::exchange(spec.inputs, {})[0] : edge{};
    if (is_pass_through)
      spec.op = "NoOp";
    else
      TROUPE_TRY(fill(spec, from).with_context(description(from)));
    TROUPE_ASSIGN(auto* added, add_with_origin(target_, std::move(spec), file_));
    if (is_pass_through)
      passed_[from.name()] = {handle, added};
    return added;
  }

  // Whether an edge is a handle, which nodes of TensorFlow take as it is.
  static bool is_handle(edge value) {
    const auto* producer =
        value.node->output_is_ref(value.index) ? resource_behind(value) : nullptr;
    return producer &&
           (producer->op().outputs[0].handle || producer->op().state_kind != resource::variable);
  }

  static bool gives_value(const NodeDef& node_def) {
    auto type = node_def.attr().find("T");
    return type != node_def.attr().end() && type->second.type() != DT_RESOURCE;
  }

  status connect(node_spec& spec, const NodeDef& from) {
    for (const auto& text : from.input()) {
      auto name = *input_name::parse(text); // checked by predecessors()
      if (auto entry = by_name_.find(name.node); entry != by_name_.end()) {
        auto* producer = added_[entry->second];
        auto passed = passed_.find(std::string{name.node});
        auto is_control = name.control || (passed != passed_.end() && name.output == 0 &&
                                           passed->second.after && !producer->controls().empty());
        if (is_control)
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
    auto entry = by_name_.find(name.node);
    if (entry == by_name_.end())
      return outer_ ? outer_(text)
                    : failure(error_kind::not_found, "there is no node '", name.node, '\'');
    auto passed = passed_.find(std::string{name.node});
    if (passed != passed_.end() && name.output == 0)
      return passed->second.target;
    auto* producer = added_[entry->second];
    if (name.output < producer->outputs())
      return producer->output(name.output);
    return invalid("there is no output '", text, "', ", producer->description(), " has ",
                   producer->outputs());
  }

  const raised_node* raised_from(const NodeDef& from) const {
    if (!source_.raised)
      return nullptr;
    auto entry = source_.raised->nodes.find(from.name());
    return entry == source_.raised->nodes.end() ? nullptr : &entry->second;
  }

  status fill(node_spec& spec, const NodeDef& from) {
    TROUPE_ASSIGN(const auto* op, target_.ops().find_op(spec.op));
    // In a fixed order, so that errors are reproducible.
    std::map<std::string_view, const AttrValue*> attrs;
    for (const auto& [name, value] : from.attr())
      attrs.emplace(name, &value);
    for (const auto& [view, value] : attrs) {
      std::string name{view};
      if (const auto* declared = op->find_attr(name)) {
        if (op->calls != call_kind::never && declared->kind == attr_kind::types)
          continue; // TensorFlow's type of a variable is "resource"; ours follows from the inputs
        if (value->has_func() || value->list().func_size() > 0)
          continue; // read by fill_functions()
        if (name == "shared_name" && value->s() == anonymous)
          continue;
        if (declared->kind == attr_kind::type && follows_from(name, spec, *op) &&
            value->type() != DT_VARIANT)
          continue;
        TROUPE_ASSIGN(auto attribute,
                      read_attr(renamed_handles(*value, name, spec, *op), *declared, budget_));
        spec.attrs.emplace(std::move(name), std::move(attribute));
      } else if (name == colocation_attr) {
        TROUPE_TRY(read_colocation(*value, spec));
      } else if (name == transfer_attr) {
        spec.attrs.emplace(std::move(name), value->s());
      } else if (!may_be_dropped(name, *value)) {
        return failure(error_kind::unimplemented, "there is no attribute '", name,
                       "', which the file sets to { ", to_text(*value), " }");
      }
    }
    return op->calls == call_kind::never ? status{} : fill_functions(spec, from, *op);
  }

  // Names of colocation groups are those of the file, in the scope of the import. Entries other
  // than "loc:@" are ignored, and so is the node's own group. Nodes of functions run on the device
  // of their caller.
  status read_colocation(const AttrValue& value, node_spec& spec) const {
    if (dynamic_cast<const function_body*>(&target_))
      return {};
    std::vector<std::string> names;
    for (std::string_view group : value.list().s())
      if (group.starts_with(colocation_prefix) && group.size() > colocation_prefix.size() &&
          group.substr(colocation_prefix.size()) != spec.name)
        names.push_back(concat(target_.scope(), group.substr(colocation_prefix.size())));
    add_colocation(spec.attrs, names);
    return {};
  }

  // The handle of a TensorArray or a stack is a resource or a text in TensorFlow, and a value of
  // type variant in Troupe.
  static bool is_handle_value(edge value) {
    return value.type() == dtype::variant && !value.node->output_is_ref(value.index);
  }

  // Returns the first input of a port of this type, if there is one.
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

  // Returns the attribute with Troupe's type for handles, if they come from inputs or are the items
  // of stacks and lists.
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
    if (op.calls != call_kind::while_true)
      for (const auto& argument : arguments)
        dims.push_back(argument.dims());
    else if (auto shapes = spec.attrs.find("output_shapes"); shapes != spec.attrs.end())
      dims = *shapes->second.get_if<std::vector<partial_shape>>();
    if (op.calls == call_kind::while_true && !dims.empty()) {
      for (size_t i = 0; i < dims.size() && i < arguments.size(); ++i)
        if (is_handle_value(arguments[i]))
          dims[i] = arguments[i].dims(); // handles of TensorFlow have another shape
      spec.attrs["output_shapes"] = dims;
    }
    auto read = [&](const NameAttrList& called) {
      return read_function(called, target_, arguments, dims, source_);
    };
    for (const auto& attr : op.attrs) {
      auto attribute = from.attr().find(std::string{attr.name});
      if (attribute == from.attr().end())
        continue;
      if (attr.kind == attr_kind::function) {
        TROUPE_ASSIGN(auto value, read(attribute->second.func()));
        spec.attrs[std::string{attr.name}] = std::move(value);
      } else if (attr.kind == attr_kind::functions) {
        std::vector<function_value> values;
        for (const auto& item : attribute->second.list().func()) {
          TROUPE_ASSIGN(auto value, read(item));
          values.push_back(std::move(value));
        }
        spec.attrs[std::string{attr.name}] = std::move(values);
      }
    }
    // A function that has no effects in TensorFlow may have some here.
    if (auto noinline = spec.attrs.find(noinline_attr);
        noinline != spec.attrs.end() && *noinline->second.get_if<bool>())
      for (const auto* f : functions_of(op, spec.attrs))
        if (f->body && f->body->has_effects())
          spec.op = "StatefulPartitionedCall";
    return {};
  }

  const google::protobuf::RepeatedPtrField<NodeDef>& nodes_;
  graph& target_;
  const function_source& source_;
  const outer_names& outer_;
  const std::string& file_;
  fill_budget budget_;
  std::unordered_map<std::string_view, uint32_t> by_name_;
  std::vector<node*> added_;
  passed_handles passed_;
};

} // namespace

result<passed_handles> add_nodes(const GraphDef& from, graph& target, const function_source& source,
                                 const std::map<std::string, edge>& arguments,
                                 const outer_names& outer) {
  graph_def_reader reader{from, target, source, outer};
  reader.add_given(arguments);
  return reader.read();
}

} // namespace troupe::graph_def
