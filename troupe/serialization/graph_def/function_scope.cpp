#include "troupe/serialization/graph_def/function_scope.hpp"

#include "troupe/serialization/graph_def/input_name.hpp"

namespace troupe::graph_def {
namespace {

// The index at the end of an input; without one it is the first.
result<size_t> index_in(std::string_view digits, std::string_view input) {
  uint16_t value = 0;
  if (!digits.empty() && !read_number(digits, value))
    return invalid("'", input, "' is no input: write node:output:1, argument:1 or ^node");
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
    if (attr.has_default_value() && !given_.contains(attr.name()))
      given_[attr.name()] = attr.default_value();
  std::vector<std::string> inputs;
  for (const auto& each : call_.input())
    if (each.starts_with('^'))
      before_.push_back(each.substr(1));
    else
      inputs.push_back(each);
  size_t next = 0;
  for (const auto& each : signature.input_arg()) {
    TROUPE_ASSIGN(auto count, tensors_of(each, given_));
    auto& actual = arguments_[each.name()];
    for (size_t i = 0; i < count && next < inputs.size(); ++i)
      actual.push_back(inputs[next++]);
    if (actual.size() < count)
      return invalid("the function ", signature.name(), " takes more than ", inputs.size(),
                     " inputs");
  }
  if (next < inputs.size())
    return invalid("the function ", signature.name(), " takes ", next, " inputs, got ",
                   inputs.size());
  for (const auto& each : body_.node_def())
    nodes_.emplace(each.name(), &each);
  return {};
}

// Puts the attributes of the call where the function only names them.
status function_scope::substitute(attrs& in) const {
  for (auto& [name, value] : in)
    if (value.value_case() == AttrValue::kPlaceholder) {
      const auto* actual = find(given_, value.placeholder());
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
  for (auto& input : *node.mutable_input())
    if (input.starts_with('^')) {
      TROUPE_ASSIGN(auto moved, control(input.substr(1)));
      input = "^" + moved;
    } else {
      TROUPE_ASSIGN(input, source(input, 0));
    }
  if (!before_.empty())
    node.add_input("^" + begin());
  return {};
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

// Reads "argument", "argument:1", "node:output", "node:output:1"; `further` tensors after it.
result<std::string> function_scope::source(std::string_view text, size_t further) const {
  auto [name, rest] = split(text);
  if (auto argument = arguments_.find(name); argument != arguments_.end()) {
    TROUPE_ASSIGN(auto index, index_in(rest, text));
    if (index + further >= argument->second.size())
      return invalid("there is no '", text, "', the argument has ", argument->second.size(),
                     " tensors");
    return argument->second[index + further];
  }
  auto node = nodes_.find(name);
  if (node == nodes_.end())
    return failure(error_kind::not_found, "there is no node '", name, "' in ",
                   body_.signature().name());
  auto [output, digits] = split(rest);
  TROUPE_ASSIGN(auto index, index_in(digits, text));
  TROUPE_ASSIGN(auto first, library_.first_of(*node->second, output, given_));
  return concat(inner(name), ':', first + index + further);
}

result<std::vector<std::string>> function_scope::outputs() const {
  std::vector<std::string> all;
  for (const auto& each : body_.signature().output_arg()) {
    auto from = body_.ret().find(each.name());
    if (from == body_.ret().end())
      return invalid("the function ", body_.signature().name(), " does not say where '",
                     each.name(), "' comes from");
    TROUPE_ASSIGN(auto count, tensors_of(each, given_));
    for (size_t i = 0; i < count; ++i) {
      TROUPE_ASSIGN(auto output, source(from->second, i));
      all.push_back(std::move(output));
    }
  }
  return all;
}

} // namespace troupe::graph_def
