#include "troupe/api/generate/builders.hpp"
// Generates the C++ builders of ops.

#include <algorithm>
#include <map>
#include <sstream>
#include <stdexcept>

namespace troupe::generate {
namespace {

bool is_type_list(const op_def& op, std::string_view attr) {
  auto* def = op.find_attr(attr);
  return def && def->kind == attr_kind::types;
}

/// Returns true for a port with several tensors.
bool variadic(const op_def& op, const port& p) {
  return !p.count.empty() || is_type_list(op, p.type);
}

/// Returns true for an attribute that follows from the inputs, and therefore is not a parameter.
bool deduced(const op_def& op, const attr_def& attr) {
  return std::ranges::any_of(op.inputs, [&](const port& input) {
    return input.type == attr.name || input.count == attr.name;
  });
}

/// Returns true if no input needs to be an edge, so that the graph must be a parameter.
bool takes_graph(const op_def& op) {
  return op.inputs.empty() || has(op.effects, effect::random) || op.name == "Fill" ||
         op.name == "Range" || op.name == "MatchingFiles" || op.name == "ReadFile" ||
         op.name == "TensorArrayV3" || op.name == "TensorArrayV2" || op.name == "TensorArray" ||
         op.name == "StackV2";
}

std::vector<const attr_def*> attributes(const op_def& op, bool with_default) {
  std::vector<const attr_def*> selected;
  for (const auto& attr : op.attrs)
    if (!deduced(op, attr) && attr.has_default() == with_default)
      selected.push_back(&attr);
  return selected;
}

std::string type_of(attr_kind kind, bool parameter) {
  auto by_reference = [&](std::string type) { return parameter ? "const " + type + "&" : type; };
  switch (kind) {
    case attr_kind::boolean: return "bool";
    case attr_kind::integer: return "int64_t";
    case attr_kind::real: return "double";
    case attr_kind::text: return parameter ? "std::string_view" : "std::string";
    case attr_kind::type: return "troupe::dtype";
    case attr_kind::shape: return by_reference("troupe::partial_shape");
    case attr_kind::tensor: return by_reference("troupe::tensor");
    case attr_kind::integers: return by_reference("std::vector<int64_t>");
    case attr_kind::reals: return by_reference("std::vector<double>");
    case attr_kind::texts: return by_reference("std::vector<std::string>");
    case attr_kind::types: return by_reference("std::vector<troupe::dtype>");
    case attr_kind::shapes: return by_reference("std::vector<troupe::partial_shape>");
    case attr_kind::function: return by_reference("troupe::function_value");
    case attr_kind::functions: return by_reference("std::vector<troupe::function_value>");
  }
  throw std::logic_error{"an attribute of a kind that has no C++ type"};
}

std::string quoted(std::string_view text) {
  std::string out;
  for (char c : text)
    out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : std::string{c};
  return '"' + out + '"';
}

std::string literal(const attr_value& value) {
  if (auto* flag = value.get_if<bool>())
    return *flag ? "true" : "false";
  if (auto* number = value.get_if<int64_t>())
    return std::to_string(*number);
  if (auto* number = value.get_if<double>())
    return (std::ostringstream{} << *number).str();
  if (auto* text = value.get_if<std::string>())
    return text->empty() ? "{}" : quoted(*text);
  if (auto* type = value.get_if<dtype>()) {
    auto name = std::string{to_string(*type)};
    return "troupe::dtype::" + (*type == dtype::boolean ? "boolean" : name);
  }
  return "{}";
}

std::string parameter_name(std::string_view name) {
  auto converted = builder_name(name);
  for (auto taken : {"in", "name", "where", "options", "operand", "edge", "node", "graph"})
    if (converted == taken)
      return converted + '_';
  return converted;
}

std::string result_type(const op_def& op) {
  if (op.outputs.empty())
    return "node*";
  if (op.outputs.size() == 1)
    return variadic(op, op.outputs[0]) ? "std::vector<edge>" : "edge";
  return builder_name(op.name) + "_outputs";
}

/// Returns the parameters before the options.
std::vector<std::string> parameters(const op_def& op) {
  std::vector<std::string> list;
  if (takes_graph(op))
    list.push_back("graph& in");
  for (const auto& input : op.inputs)
    list.push_back((variadic(op, input) ? "const std::vector<edge>& " : "operand ") +
                   parameter_name(input.name));
  for (auto* attr : attributes(op, false))
    list.push_back(type_of(attr->kind, true) + ' ' + parameter_name(attr->name));
  return list;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const auto& part : parts)
    out += (out.empty() ? "" : ", ") + part;
  return out;
}

std::string options_name(const op_def& op) { return builder_name(op.name) + "_options"; }

/// Breaks a long declaration between its parameters.
std::string broken(const std::string& text) {
  std::string out, line;
  for (size_t from = 0; from < text.size();) {
    auto stop = text.find(", ", from);
    auto piece = text.substr(from, stop == text.npos ? stop : stop + 1 - from);
    from = stop == text.npos ? text.size() : stop + 2;
    if (!line.empty() && line.size() + 1 + piece.size() > 98) {
      out += line + '\n';
      line = "    ";
    } else if (!line.empty()) {
      line += ' ';
    }
    line += piece;
  }
  return out + line;
}

/// Returns a declaration; `defaults`: with default arguments, for the header.
std::string declaration(const op_def& op, bool defaults) {
  auto list = parameters(op);
  if (!attributes(op, true).empty())
    list.push_back("const " + options_name(op) + "& options" + (defaults ? " = {}" : ""));
  list.push_back(std::string{"std::string_view name"} + (defaults ? " = {}" : ""));
  list.push_back(std::string{"std::source_location where"} +
                 (defaults ? " = std::source_location::current()" : ""));
  return result_type(op) + ' ' + builder_name(op.name) + '(' + joined(list) + ')';
}

void print_options(std::ostream& out, const op_def& op) {
  auto options = attributes(op, true);
  if (options.empty())
    return;
  out << "struct " << options_name(op) << " {\n";
  for (auto* attr : options)
    out << "  " << type_of(attr->kind, false) << ' ' << parameter_name(attr->name) << " = "
        << literal(default_of(*attr)) << ";\n";
  out << "};\n";
}

void print_outputs(std::ostream& out, const op_def& op) {
  if (op.outputs.size() < 2)
    return;
  out << "struct " << result_type(op) << " {\n";
  for (const auto& output : op.outputs)
    out << (variadic(op, output) ? "  std::vector<edge> " : "  edge ")
        << parameter_name(output.name) << ";\n";
  out << "};\n";
}

/// Returns several lists of outputs; their lengths are in attributes.
void print_lists(std::ostream& out, const op_def& op) {
  out << "  int next = 0;\n  return {";
  for (const auto& output : op.outputs) {
    out << (&output == op.outputs.begin() ? "" : ",\n          ");
    if (!output.count.empty())
      out << "detail::next_outputs(added_node, next, added_node.attr<int64_t>(\"" << output.count
          << "\"))";
    else if (variadic(op, output))
      out << "detail::next_outputs(added_node, next, "
             "std::ssize(added_node.attr<std::vector<dtype>>(\""
          << output.type << "\")))";
    else
      out << "added_node.output(next++)";
  }
  out << "};\n";
}

/// Returns the length attributes of input lists. They are needed if there are several lists.
std::vector<std::string> counts_of_lists(const op_def& op) {
  std::vector<std::string> counts;
  if (std::ranges::count_if(op.inputs, [&](const port& p) { return variadic(op, p); }) > 1)
    for (const auto& input : op.inputs)
      if (!input.count.empty())
        counts.push_back("{\"" + std::string{input.count} + "\", std::ssize(" +
                         parameter_name(input.name) + ")}");
  return counts;
}

void print_return(std::ostream& out, const op_def& op) {
  if (op.outputs.empty()) {
    out << "  return &added_node;\n";
    return;
  }
  auto lists = std::ranges::count_if(op.outputs, [&](const port& p) { return variadic(op, p); });
  if (lists > 1)
    return print_lists(out, op);
  if (op.outputs.size() == 1) {
    out << (lists ? "  return detail::outputs(added_node, 0, 0);\n"
                  : "  return added_node.output(0);\n");
    return;
  }
  out << "  return {";
  size_t before = 0;
  bool after_list = false;
  for (const auto& output : op.outputs) {
    auto after = op.outputs.size() - 1 - before;
    out << (before ? ", " : "");
    if (variadic(op, output)) {
      out << "detail::outputs(added_node, " << before << ", " << after << ')';
      after_list = true;
    } else if (after_list) {
      out << "added_node.output(added_node.outputs() - " << after + 1 << ')';
    } else {
      out << "added_node.output(" << before << ')';
    }
    ++before;
  }
  out << "};\n";
}

void check_unique(const std::vector<const op_def*>& ops) {
  std::map<std::string, std::string_view> names;
  for (auto* op : ops)
    if (has_builder(*op))
      if (auto [position, is_new] = names.emplace(builder_name(op->name), op->name); !is_new)
        throw std::logic_error{std::string{op->name} + " and " + std::string{position->second} +
                               " would both be " + position->first};
}

} // namespace

std::string builder_signature(const op_def& op) {
  auto list = parameters(op);
  if (!attributes(op, true).empty())
    list.push_back(options_name(op));
  return result_type(op) + ' ' + builder_name(op.name) + '(' + joined(list) + ')';
}

std::string builders_header(const std::vector<const op_def*>& ops) {
  check_unique(ops);
  std::ostringstream out;
  out << "// Generated from the op definitions: one function per op that adds a node to the "
         "graph.\n"
         "//\n"
         "// All take a name for the node (empty: the op's name, made unique), remember the line "
         "that\n"
         "// calls them, and throw troupe::error when the op's definition rejects the node.\n"
         "#pragma once\n#include \"troupe/api/operand.hpp\"\n\nnamespace TROUPE_API troupe {\n";
  for (auto* op : ops) {
    if (!has_builder(*op))
      continue;
    out << '\n';
    print_options(out, *op);
    print_outputs(out, *op);
    out << wrapped(op->doc, "/// ") << broken(declaration(*op, true)) << ";\n";
    if (!attributes(*op, true).empty()) {
      auto list = parameters(*op);
      auto arguments_before_options = list;
      list.push_back("std::string_view name");
      list.push_back("std::source_location where = std::source_location::current()");
      std::vector<std::string> arguments;
      for (const auto& parameter : arguments_before_options)
        arguments.push_back(parameter.substr(parameter.rfind(' ') + 1));
      arguments.insert(arguments.end(), {options_name(*op) + "{}", "name", "where"});
      out << broken("inline " + result_type(*op) + ' ' + builder_name(op->name) + '(' +
                    joined(list))
          << ") {\n  return " << builder_name(op->name) << '(' << joined(arguments) << ");\n}\n";
    }
  }
  out << "\n} // namespace troupe\n";
  return std::move(out).str();
}

std::string builders_source(const std::vector<const op_def*>& ops) {
  std::ostringstream out;
  out << "// Generated from the op definitions.\n#include \"troupe/api/generated/ops.hpp\"\n\n"
         "namespace troupe {\n";
  for (auto* op : ops) {
    if (!has_builder(*op))
      continue;
    std::vector<std::string> inputs, attrs = counts_of_lists(*op);
    for (const auto& input : op->inputs)
      inputs.push_back(variadic(*op, input)
                           ? "detail::list(" + parameter_name(input.name) + ", where)"
                           : "{" + parameter_name(input.name) + '}');
    for (auto* attr : attributes(*op, false))
      attrs.push_back("{\"" + std::string{attr->name} + "\", " + parameter_name(attr->name) + '}');
    for (auto* attr : attributes(*op, true))
      attrs.push_back("{\"" + std::string{attr->name} + "\", options." +
                      parameter_name(attr->name) + '}');
    out << '\n'
        << broken(declaration(*op, false)) << " {\n  auto& added_node = detail::add_node("
        << (takes_graph(*op) ? "&in" : "nullptr") << ", \"" << op->name << "\", {" << joined(inputs)
        << "},\n      {" << joined(attrs) << "}, name, where);\n";
    print_return(out, *op);
    out << "}\n";
  }
  out << "\n} // namespace troupe\n";
  return std::move(out).str();
}

} // namespace troupe::generate
