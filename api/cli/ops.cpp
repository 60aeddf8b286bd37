// troupe ops: the reference of all ops, from their definitions.
#include "troupe/api/cli/commands.hpp"
#include "troupe/api/error.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/runtime/graph/collective.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <memory>

namespace troupe::cli {
namespace {

std::vector<const op_def*> public_ops() {
  auto ops = library().ops();
  std::erase_if(ops, [](const op_def* op) { return op->name.starts_with('_'); });
  return ops;
}

void list() {
  size_t width = 0;
  for (auto* op : public_ops())
    width = std::max(width, op->name.size());
  for (auto* op : public_ops())
    std::cout << std::left << std::setw(static_cast<int>(width) + 2) << op->name
              << op->doc.substr(0, op->doc.find('\n')) << '\n';
}

void show(const std::string& name) {
  std::vector<std::string_view> names;
  for (auto* op : public_ops()) {
    if (op->name == name) {
      std::cout << describe(*op);
      return;
    }
    names.push_back(op->name);
  }
  throw error{
      failure(error_kind::not_found, "there is no op '", name, "'", did_you_mean(name, names))};
}

// Returns the types of an op's kernel for a device: "f32 f64", "all", or "-" if there is no kernel.
std::string types_on(const op_def& op, device_kind kind) {
  const auto* kernel = library().find_kernel(op.name, kind);
  if (!kernel && is_collective(op)) // runs on every device, together with others of its kind
    return "with its group";
  if (!kernel)
    return has(op.effects, effect::blocking) || op.make_waitable_resource ? "by an actor" : "-";
  // If one kernel supports all types, the op definition lists them.
  const auto* attr = op.find_attr(kernel->key);
  std::string types;
  for (const auto& implementation : kernel->run)
    if (implementation.type != dtype::none)
      types += concat(' ', implementation.type);
    else
      types += attr && attr->kind == attr_kind::type ? concat(' ', attr->allowed) : " any";
  return types.substr(1);
}

// Prints one line for each op, with columns separated by tabs, and a summary.
void print_coverage() {
  std::cout << "op\tcpu\tgpu\tgradient\n";
  int count = 0, on_cpu = 0, on_gpu = 0, differentiable = 0;
  for (auto* op : public_ops()) {
    auto cpu = types_on(*op, device_kind::cpu), gpu = types_on(*op, device_kind::gpu);
    ++count;
    on_cpu += cpu != "-";
    on_gpu += gpu != "-" && gpu != "by an actor";
    differentiable += op->gradient != nullptr;
    std::cout << op->name << '\t' << cpu << '\t' << gpu << '\t';
    if (op->gradient)
      std::cout << "yes\n";
    else
      std::cout << "none: " << op->no_gradient << '\n';
  }
  std::cout << "# " << count << " ops, " << on_cpu << " on processors, " << on_gpu << " on GPUs, "
            << differentiable << " with a gradient\n";
}

} // namespace

void add_ops(CLI::App& app) {
  auto name = std::make_shared<std::string>();
  auto* command = app.add_subcommand("ops", "List all ops, or describe one");
  command->add_option("NAME", *name, "The op's name, such as MatMul");
  auto coverage = std::make_shared<bool>();
  command->add_flag("--coverage", *coverage,
                    "A table of all ops: their types on each kind of device, and their gradient");
  command->callback([name, coverage] {
    if (*coverage)
      print_coverage();
    else if (name->empty())
      list();
    else
      show(*name);
  });
}

} // namespace troupe::cli
