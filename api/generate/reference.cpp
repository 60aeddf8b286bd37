#include "troupe/api/generate/reference.hpp"
// Generates the reference of all ops.

#include "troupe/api/generate/builders.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace troupe::generate {
namespace {

std::string first_sentence(std::string_view doc) {
  auto end = doc.find("\n\n");
  std::string sentence{doc.substr(0, end)};
  std::ranges::replace(sentence, '\n', ' ');
  return sentence;
}

std::string anchor(std::string_view name) {
  std::string text{name};
  for (auto& c : text)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

void print_ports(std::ostream& out, const char* title, const port_list& ports) {
  if (ports.empty())
    return;
  out << "- " << title << ": ";
  const char* separator = "";
  for (const auto& port_def : ports) {
    out << separator << '`' << port_def.name << "` (";
    if (!port_def.count.empty())
      out << port_def.count << " times ";
    if (port_def.ref && port_def.state_kind != resource::variable)
      out << "ref " << to_string(port_def.state_kind) << ')';
    else
      out << (port_def.handle ? "handle "
              : port_def.ref  ? "ref "
                              : "")
          << (port_def.type.empty() ? "of any type" : port_def.type) << ')';
    separator = ", ";
  }
  out << '\n';
}

void print_attrs(std::ostream& out, const op_def& op) {
  for (const auto& attr : op.attrs) {
    out << "- attribute `" << attr.name << "`: ";
    if (attr.kind == attr_kind::type)
      out << "a type of " << attr.allowed;
    else
      out << to_string(attr.kind);
    if (attr.minimum != INT64_MIN)
      out << ", at least " << attr.minimum;
    if (attr.has_default()) {
      out << ", by default ";
      auto value = concat(default_of(attr));
      out << (value.empty() ? "empty" : "`" + value + "`");
    }
    out << '\n';
  }
}

// Returns the name of the op whose kernels this op uses.
std::string_view with_kernels(const op_def& op, const registry& ops) {
  for (const auto* other : ops.ops())
    if (other->second_name == op.name ||
        (other->by_handle.name == op.name && !other->by_handle.defined))
      return other->name;
  return op.name;
}

void print_op(std::ostream& out, const op_def& op, const registry& ops) {
  out << "\n## " << op.name << "\n\n" << wrapped(op.doc, "") << '\n';
  print_ports(out, "inputs", op.inputs);
  print_ports(out, "outputs", op.outputs);
  print_attrs(out, op);
  out << "- gradient: " << (op.gradient ? "defined" : "none: " + std::string{op.no_gradient})
      << '\n';
  auto devices = std::ranges::find(devices_of_ops(), with_kernels(op, ops), &op_devices::op);
  out << "- devices: " << (devices == devices_of_ops().end() ? "any" : devices->devices) << '\n';
  if (has_builder(op))
    out << "- C++: `" << builder_signature(op) << "`\n";
  if (!op.example.empty()) {
    auto example = op.example;
    while (example.starts_with('\n'))
      example.remove_prefix(1);
    while (example.ends_with('\n'))
      example.remove_suffix(1);
    out << "\n```\n" << example << "\n```\n";
  }
}

} // namespace

std::string reference(const registry& ops) {
  std::ostringstream out;
  out << "# Ops\n\n"
         "Generated from the op definitions (`cmake --build --preset default --target generate`); "
         "do not "
         "edit.\n"
         "The examples are text graphs ([docs/text-graphs.md](text-graphs.md)); `troupe run` runs "
         "them, and so do the tests.\n\n| op | |\n|---|---|\n";
  for (auto* op : ops.ops())
    if (!op->name.starts_with('_'))
      out << "| [" << op->name << "](#" << anchor(op->name) << ") | " << first_sentence(op->doc)
          << " |\n";
  for (auto* op : ops.ops())
    if (!op->name.starts_with('_'))
      print_op(out, *op, ops);
  return std::move(out).str();
}

} // namespace troupe::generate
