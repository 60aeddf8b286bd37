// troupe ops: the reference of all ops, from their definitions.
#include "troupe/api/cli/commands.hpp"
#include "troupe/api/error.hpp"
#include "troupe/api/library.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <memory>

namespace troupe::cli {
namespace {

std::vector<const op_def*> public_ops() {
  auto all = library().ops();
  std::erase_if(all, [](const op_def* op) { return op->name.starts_with('_'); });
  return all;
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

} // namespace

void add_ops(CLI::App& to) {
  auto name = std::make_shared<std::string>();
  auto* command = to.add_subcommand("ops", "List all ops, or describe one");
  command->add_option("NAME", *name, "The op's name, such as MatMul");
  command->callback([name] {
    if (name->empty())
      list();
    else
      show(*name);
  });
}

} // namespace troupe::cli
