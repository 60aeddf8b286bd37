#include "troupe/serialization/graph_def/function_scope.hpp"

#include "troupe/serialization/graph_def/flow_graph.hpp"
#include "troupe/serialization/graph_def/input_name.hpp"

#include <algorithm>
#include <set>

namespace troupe::graph_def {
namespace {

// Parses the index at the end of an input; without digits, it is 0.
result<size_t> index_in(std::string_view digits, std::string_view input) {
  uint16_t value = 0;
  if (!digits.empty() && !read_number(digits, value))
    return invalid("'", input, "' is not an input: write node:output:1, argument:1 or ^node");
  return size_t{value};
}

// Splits "a:b" into "a" and "b".
std::pair<std::string_view, std::string_view> split(std::string_view text) {
  auto colon = text.find(':');
  if (colon == text.npos)
    return {text, {}};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

} // namespace

status function_scope::bind() {
  const auto& signature = body_.signature();
  for (const auto& attr : signature.attr())
    if (attr.has_default_value() && !call_attrs_.contains(attr.name()))
      call_attrs_[attr.name()] = attr.default_value();
  std::vector<std::string> inputs;
  for (const auto& input : call_.input())
    if (input.starts_with('^'))
      before_.push_back(input.substr(1));
    else
      inputs.push_back(input);
  size_t next = 0;
  for (const auto& argument : signature.input_arg()) {
    TROUPE_ASSIGN(auto count, tensors_of(argument, call_attrs_));
    auto& actual = arguments_[argument.name()];
    for (size_t i = 0; i < count && next < inputs.size(); ++i)
      actual.push_back(inputs[next++]);
    if (actual.size() < count)
      return invalid("the function ", signature.name(), " takes more than ", inputs.size(),
                     " inputs");
  }
  if (next < inputs.size())
    return invalid("the function ", signature.name(), " takes ", next, " inputs, got ",
                   inputs.size());
  for (const auto& node_def : body_.node_def())
    nodes_.emplace(node_def.name(), &node_def);
  return {};
}

// Replaces placeholders by the attributes of the call.
status function_scope::substitute(attrs& attributes) const {
  for (auto& [name, value] : attributes)
    if (value.value_case() == AttrValue::kPlaceholder) {
      const auto* actual = find(call_attrs_, value.placeholder());
      if (!actual)
        return invalid("attribute ", value.placeholder(), " is missing");
      value = *actual;
    } else if (value.value_case() == AttrValue::kFunc) {
      TROUPE_TRY(substitute(*value.mutable_func()->mutable_attr()));
    }
  return {};
}

status function_scope::translate(NodeDef& node) const {
  node.set_name(inner(node.name()));
  if (node.device().empty())
    node.set_device(call_.device());
  TROUPE_TRY(substitute(*node.mutable_attr()));
  if (auto colocation = node.mutable_attr()->find("_class");
      colocation != node.mutable_attr()->end() && colocation->second.has_list())
    for (auto& group : *colocation->second.mutable_list()->mutable_s())
      if (auto separator = group.find('@');
          separator != group.npos && nodes_.contains(group.substr(separator + 1)))
        group = concat(group.substr(0, separator + 1), inner(group.substr(separator + 1)));
  if (flow_of(node.op()) == flow::enter) { // each call has loops of its own
    auto& frame = (*node.mutable_attr())["frame_name"];
    frame.set_s(inner(frame.s()));
  }
  // The first nodes of the function wait for the nodes that the call waits for.
  auto is_first = std::ranges::none_of(node.input(), [this](std::string_view input) {
    input.remove_prefix(input.starts_with('^') ? 1 : 0);
    return nodes_.contains(split(input).first);
  });
  for (auto& input : *node.mutable_input())
    if (input.starts_with('^')) {
      TROUPE_ASSIGN(auto translated, control(input.substr(1)));
      input = "^" + translated;
    } else {
      TROUPE_ASSIGN(input, source(input, 0));
    }
  if (!before_.empty() && is_first)
    node.add_input("^" + begin());
  return {};
}

void function_scope::leave_loops(std::vector<std::string>& nodes) const {
  // The nesting of loops of each node, from Enter to Exit.
  std::map<std::string_view, int> depth;
  std::map<std::string_view, std::vector<const NodeDef*>> readers;
  std::vector<const NodeDef*> open;
  for (const auto& node_def : body_.node_def()) {
    depth[node_def.name()] = 0;
    auto first = true;
    for (std::string_view input : node_def.input()) {
      input.remove_prefix(input.starts_with('^') ? 1 : 0);
      if (auto from = nodes_.find(split(input).first); from != nodes_.end()) {
        readers[from->first].push_back(&node_def);
        first = first && flow_of(from->second->op()) == flow::next_iteration;
      }
    }
    if (first)
      open.push_back(&node_def);
  }
  std::set<const NodeDef*> seen(open.begin(), open.end());
  while (!open.empty()) {
    const auto* node_def = open.back();
    open.pop_back();
    auto& node_depth = depth[node_def->name()];
    node_depth += flow_of(node_def->op()) == flow::enter  ? 1
                  : flow_of(node_def->op()) == flow::exit ? -1
                                                          : 0;
    for (const auto* reader : readers[node_def->name()])
      if (seen.insert(reader).second) {
        depth[reader->name()] = node_depth;
        open.push_back(reader);
      }
  }
  std::set<std::string> outer_exits;
  for (const auto& [name, node_def] : nodes_)
    if (flow_of(node_def->op()) == flow::exit && depth[name] <= 0)
      outer_exits.insert(inner(name));
  std::set<std::string> replaced;
  for (const auto& [name, node_def] : nodes_)
    if (auto full_name = inner(name); std::ranges::count(nodes, full_name) > 0) {
      if (depth[name] <= 0)
        replaced.insert(full_name);
      else
        replaced.insert(outer_exits.begin(), outer_exits.end());
    }
  nodes.assign(replaced.begin(), replaced.end());
}

result<std::string> function_scope::control(const std::string& name) const {
  auto argument = arguments_.find(name);
  if (argument == arguments_.end())
    return inner(name);
  if (argument->second.empty())
    return invalid("the argument '", name, "' is an empty list");
  TROUPE_ASSIGN(auto actual, input_name::parse(argument->second.front()));
  return std::string{actual.node};
}

// Parses "argument", "argument:1", "node:output", "node:output:1"; adds `further` to the index.
result<std::string> function_scope::source(std::string_view text, size_t further) const {
  auto [name, suffix] = split(text);
  if (auto argument = arguments_.find(name); argument != arguments_.end()) {
    TROUPE_ASSIGN(auto index, index_in(suffix, text));
    if (index + further >= argument->second.size())
      return invalid("there is no '", text, "', the argument has ", argument->second.size(),
                     " tensors");
    return argument->second[index + further];
  }
  auto node = nodes_.find(name);
  if (node == nodes_.end())
    return failure(error_kind::not_found, "there is no node '", name, "' in ",
                   body_.signature().name());
  auto [output, digits] = split(suffix);
  TROUPE_ASSIGN(auto index, index_in(digits, text));
  TROUPE_ASSIGN(auto first, library_.first_of(*node->second, output, call_attrs_));
  return concat(inner(name), ':', first + index + further);
}

result<std::vector<std::string>> function_scope::outputs() const {
  std::vector<std::string> names;
  for (const auto& argument : body_.signature().output_arg()) {
    auto from = body_.ret().find(argument.name());
    if (from == body_.ret().end())
      return invalid("the function ", body_.signature().name(), " does not say where '",
                     argument.name(), "' comes from");
    TROUPE_ASSIGN(auto count, tensors_of(argument, call_attrs_));
    for (size_t i = 0; i < count; ++i) {
      TROUPE_ASSIGN(auto output, source(from->second, i));
      names.push_back(std::move(output));
    }
  }
  return names;
}

} // namespace troupe::graph_def
