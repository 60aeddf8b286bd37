#include "troupe/serialization/graph_def/add_nodes.hpp"

#include "troupe/runtime/graph/registry.hpp"
#include "troupe/serialization/graph_def/input_name.hpp"
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
  graph_def_reader(const GraphDef& from, graph& into, const graph_def_options& options)
      : nodes_(from.node()), into_(into), file_(options.file), budget_{options.filled_bytes} {}

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
        auto position = [&]() -> result<uint32_t> {
          TROUPE_ASSIGN(auto name, input_name::parse(text));
          return position_of(name.node);
        }();
        if (!position)
          return position.status().within(description(each));
        inputs.push_back(*position);
      }
    }
    return before;
  }

  result<node*> add(const NodeDef& from) {
    node_spec spec;
    spec.op = from.op();
    spec.name = from.name();
    spec.device = from.device();
    TROUPE_TRY(connect(spec, from).within(description(from)));
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
      auto* producer = added_[by_name_.find(name.node)->second];
      auto passed = passed_.find(std::string{name.node});
      if (passed != passed_.end() && !name.control && name.output == 0) {
        spec.inputs.push_back(passed->second.of);
        if (!producer->controls().empty())
          spec.controls.push_back(producer);
      } else if (name.control)
        spec.controls.push_back(producer);
      else if (name.output < producer->outputs())
        spec.inputs.push_back(producer->output(name.output));
      else
        return invalid("there is no output '", text, "', ", producer->description(), " has ",
                       producer->outputs());
    }
    return {};
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
        if (name == "shared_name" && value->s() == anonymous)
          continue;
        TROUPE_ASSIGN(auto read, read_attr(*value, *as, budget_));
        spec.attrs.emplace(std::move(name), std::move(read));
      } else if (!may_be_dropped(name, *value)) {
        return failure(error_kind::unimplemented, "there is no attribute '", name,
                       "', which the file sets to { ", to_text(*value), " }");
      }
    }
    return {};
  }

  const google::protobuf::RepeatedPtrField<NodeDef>& nodes_;
  graph& into_;
  const std::string& file_;
  fill_budget budget_;
  std::unordered_map<std::string_view, uint32_t> by_name_;
  std::vector<node*> added_;
  passed_handles passed_;
};

} // namespace

result<passed_handles> add_nodes(const GraphDef& from, graph& into,
                                 const graph_def_options& options) {
  return graph_def_reader{from, into, options}.read();
}

} // namespace troupe::graph_def
