#include "troupe/api/generate/reference.hpp"
// Generates the reference of all ops.

#include "troupe/api/generate/builders.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>
#include <stdexcept>

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

// Returns the name of the op whose definition and kernels this op shares, as a second name or as
// the variant for handles; otherwise the op's own name.
std::string_view defined_as(const op_def& op, const registry& ops) {
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
  auto devices = std::ranges::find(devices_of_ops(), defined_as(op, ops), &op_devices::op);
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

// The ops of each family, by name.
using members = std::map<std::string_view, std::vector<const op_def*>>;

members members_of_families(const registry& ops) {
  members ops_of_families;
  for (const auto* op : ops.ops()) {
    if (op->name.starts_with('_'))
      continue;
    auto folder = std::ranges::find(folders_of_ops(), defined_as(*op, ops), &op_folder::op);
    if (folder == folders_of_ops().end())
      throw std::logic_error{"no source in ops/ defines " + std::string{op->name}};
    ops_of_families[folder->family].push_back(op);
  }
  for (const auto& [name, _] : ops_of_families)
    if (std::ranges::find(families(), name, &op_family::name) == families().end())
      throw std::logic_error{"api/generate/families.cpp does not describe " + std::string{name}};
  for (const auto& family : families())
    if (!ops_of_families.contains(family.name))
      throw std::logic_error{"the family " + std::string{family.name} + " has no ops"};
  return ops_of_families;
}

constexpr std::string_view notice = "Generated from the op definitions (`cmake --build --preset "
                                    "default --target generate`); do not edit.\n";

std::string family_page(const op_family& family, const std::vector<const op_def*>& family_ops,
                        const registry& ops) {
  std::ostringstream out;
  out << "# Ops: " << family.name << "\n\n"
      << wrapped(family.doc, "") << '\n'
      << notice
      << "[All ops](README.md) lists the other families. The examples are text graphs\n"
         "([docs/text-graphs.md](../text-graphs.md)), which `troupe run` and the tests run.\n\n"
         "| op | |\n|---|---|\n";
  for (const auto* op : family_ops)
    out << "| [" << op->name << "](#" << anchor(op->name) << ") | " << first_sentence(op->doc)
        << " |\n";
  for (const auto* op : family_ops)
    print_op(out, *op, ops);
  return std::move(out).str();
}

std::string index_page(const members& ops_of_families) {
  std::ostringstream out;
  out << "# Ops\n\n"
      << notice
      << "`troupe ops MatMul` describes an op on the command line.\n\n"
         "A family is a folder of `ops/` and has one page.\n\n"
         "| family | ops | |\n|---|---|---|\n";
  std::map<std::string_view, std::string_view> family_of_op;
  for (const auto& family : families()) {
    const auto& family_ops = ops_of_families.at(family.name);
    out << "| [" << family.name << "](" << family.name << ".md) | " << family_ops.size() << " | "
        << family.doc << " |\n";
    for (const auto* op : family_ops)
      family_of_op.emplace(op->name, family.name);
  }
  out << "\n## All ops by name\n\n| op | family |\n|---|---|\n";
  for (const auto& [op, family] : family_of_op)
    out << "| [" << op << "](" << family << ".md#" << anchor(op) << ") | " << family << " |\n";
  return std::move(out).str();
}

} // namespace

std::vector<reference_page> reference(const registry& ops) {
  auto ops_of_families = members_of_families(ops);
  std::vector<reference_page> pages{{"README.md", index_page(ops_of_families)}};
  for (const auto& family : families())
    pages.push_back({std::string{family.name} + ".md",
                     family_page(family, ops_of_families.at(family.name), ops)});
  return pages;
}

} // namespace troupe::generate
