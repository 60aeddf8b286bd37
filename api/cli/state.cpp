// troupe state: lists the state that the tasks of a cluster keep between steps.
#include "troupe/api/cli/commands.hpp"
#include "troupe/api/cli/missing_tasks.hpp"
#include "troupe/api/cli/security_options.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/api/session.hpp"
#include "troupe/runtime/types/printable.hpp"

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>

namespace troupe::cli {
namespace {

struct state_options {
  std::string cluster, task;
  std::string container;
  double timeout = 10;
  security_options security;
};

session connect(const state_options& options) {
  return session::connect(
      options.cluster,
      {.cluster = {.tls = options.security.tls, .insecure = options.security.insecure},
       .timeout = std::chrono::milliseconds{static_cast<int64_t>(options.timeout * 1000)}},
      no_line);
}

std::string or_none(const std::string& text) { return text.empty() ? "-" : text; }

int list_state(const state_options& options, bool one_container) {
  std::vector<task_problem> problems;
  auto list = connect(options).state_of(options.task, problems, no_line);
  for (const auto& entry : list.entries)
    if (!one_container || entry.container == options.container)
      std::cout << printable(concat(entry.task, "  ", or_none(entry.container), "  ", entry.kind,
                                    "  ", entry.name, "  ", or_none(entry.holds), "  ", entry.bytes,
                                    " bytes  ", entry.content))
                << '\n';
  if (list.omitted_entries > 0)
    std::cout << "and " << list.omitted_entries << " more\n";
  std::cout << std::flush;
  return print_problems(problems);
}

} // namespace

void add_state(CLI::App& app, int& exit_code) {
  auto chosen = std::make_shared<state_options>();
  auto* command = app.add_subcommand(
      "state", "Variables, queues and other state that tasks keep between steps");
  command->require_subcommand(1);
  auto add = [&](const char* name, const char* doc, const char* container) {
    auto* subcommand = command->add_subcommand(name, doc);
    subcommand->add_option("--cluster", chosen->cluster, session_help)->required();
    subcommand->add_option("--container", chosen->container, container);
    subcommand
        ->add_option("--timeout", chosen->timeout,
                     "Timeout for the answers of all tasks, in seconds")
        ->capture_default_str()
        ->check(CLI::Range(0.001, 1e6));
    add_security(*subcommand, chosen->security);
    return subcommand;
  };
  auto* list = add("ls",
                   "List the state: task, container (- for the default), kind, name, "
                   "types and shapes, bytes, and present content",
                   "Only of this container; \"\" for the default container");
  list->add_option("--task", chosen->task, "Only of this task: /job:ps/task:0");
  list->callback([chosen, list, &exit_code] {
    exit_code = list_state(*chosen, list->count("--container") > 0);
  });
  add("reset", "Clear a container on all tasks; waiting operations fail",
      "The container; \"\" for the default container")
      ->callback([chosen] { connect(*chosen).reset(chosen->container, no_line); });
  command->get_subcommand("reset")->get_option("--container")->required();
}

} // namespace troupe::cli
