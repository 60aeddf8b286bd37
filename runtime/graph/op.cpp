#include "troupe/runtime/graph/op.hpp"

#include <algorithm>
#include <sstream>

namespace troupe {
namespace {

attr_value empty_value(attr_kind kind) {
  switch (kind) {
    case attr_kind::boolean: return false;
    case attr_kind::integer: return int64_t{0};
    case attr_kind::real: return 0.0;
    case attr_kind::text: return std::string{};
    case attr_kind::type: return dtype::none;
    case attr_kind::shape: return partial_shape::unknown();
    case attr_kind::tensor: return tensor{};
    case attr_kind::integers: return std::vector<int64_t>{};
    case attr_kind::reals: return std::vector<double>{};
    case attr_kind::texts: return std::vector<std::string>{};
    case attr_kind::types: return std::vector<dtype>{};
    case attr_kind::shapes: return std::vector<partial_shape>{};
    case attr_kind::function: return function_value{};
    case attr_kind::functions: return std::vector<function_value>{};
  }
  return {};
}

void print_ports(std::ostream& out, const port_list& ports) {
  const char* separator = "";
  for (const auto& printed : ports) {
    out << separator << printed.name << ": ";
    if (!printed.count.empty())
      out << printed.count << " * ";
    if (printed.ref && printed.state_kind != resource::variable)
      out << "ref " << to_string(printed.state_kind);
    else
      out << (printed.handle ? "handle "
              : printed.ref  ? "ref "
                             : "")
          << (printed.type.empty() ? "of any type" : printed.type);
    separator = ", ";
  }
}

} // namespace

std::string_view to_string(resource kind) noexcept {
  switch (kind) {
    case resource::none: break;
    case resource::variable: return "variable";
    case resource::table: return "table";
    case resource::queue: return "queue";
    case resource::accumulator: return "accumulator";
    case resource::barrier: return "barrier";
    case resource::stage: return "staging area";
    case resource::mutex: return "mutex";
    case resource::clock: return "replica clock";
    case resource::reader: return "reader";
    case resource::files: return "file access";
  }
  return "value";
}

attr_value default_of(const attr_def& attr) {
  return std::visit(
      [&](const auto& value) -> attr_value {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>)
          return empty_value(attr.kind);
        else
          return value;
      },
      attr.preset);
}

const attr_def* op_def::find_attr(std::string_view attr_name) const noexcept {
  auto found_attr = std::ranges::find(attrs, attr_name, &attr_def::name);
  return found_attr == attrs.end() ? nullptr : found_attr;
}

std::string describe(const op_def& op) {
  std::ostringstream out;
  out << op.name << '(';
  print_ports(out, op.inputs);
  out << ") -> (";
  print_ports(out, op.outputs);
  out << ")\n\n" << op.doc << '\n';
  if (!op.second_name.empty())
    out << "\nAlso named " << op.second_name << ".\n";
  if (!op.by_handle.name.empty())
    out << "\nFor variables given by handles: " << op.by_handle.name << ".\n";
  if (!op.attrs.empty())
    out << "\nAttributes:\n";
  for (const auto& attr : op.attrs) {
    out << "  " << attr.name << ": " << to_string(attr.kind);
    if (attr.kind == attr_kind::type)
      out << " in {" << attr.allowed << '}';
    if (attr.minimum != INT64_MIN)
      out << " >= " << attr.minimum;
    if (attr.has_default())
      out << " = " << default_of(attr);
    out << '\n';
  }
  out << "\nGradient: ";
  if (op.gradient)
    out << "defined\n";
  else
    out << "none; " << op.no_gradient << '\n';
  if (!op.example.empty())
    out << "\nExample:\n" << op.example << '\n';
  return std::move(out).str();
}

} // namespace troupe
