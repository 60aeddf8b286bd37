// troupe state: what the tasks of a cluster keep from step to step.
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

session connect(const state_options& to) {
  return session::connect(
      to.cluster,
      {.cluster = {.tls = to.security.tls, .insecure = to.security.insecure},
       .timeout = std::chrono::milliseconds{static_cast<int64_t>(to.timeout * 1000)}},
      no_line);
}

std::string or_none(const std::string& text) { return text.empty() ? "-" : text; }

int list_state(const state_options& of, bool one_container) {
  std::vector<task_problem> problems;
  auto found = connect(of).state_of(of.task, problems, no_line);
  for (const auto& one : found.entries)
    if (!one_container || one.container == of.container)
      std::cout << printable(concat(one.task, "  ", or_none(one.container), "  ", one.kind, "  ",
                                    one.name, "  ", or_none(one.holds), "  ", one.bytes, " bytes  ",
                                    one.content))
                << '\n';
  if (found.left_out > 0)
    std::cout << "and " << found.left_out << " more\n";
  std::cout << std::flush;
  return tell_problems(problems);
}

} // namespace

void add_state(CLI::App& to, int& exit_code) {
  auto chosen = std::make_shared<state_options>();
  auto* command = to.add_subcommand(
      "state", "Variables, queues and the like that tasks keep from step to step");
  command->require_subcommand(1);
  auto add = [&](const char* name, const char* doc, const char* container) {
    auto* one = command->add_subcommand(name, doc);
    one->add_option("--cluster", chosen->cluster, session_help)->required();
    one->add_option("--container", chosen->container, container);
    one->add_option("--timeout", chosen->timeout,
                    "Seconds that tasks may take to answer, all together")
        ->capture_default_str()
        ->check(CLI::Range(0.001, 1e6));
    add_security(*one, chosen->security);
    return one;
  };
  auto* list = add("ls",
                   "List it: task, container (- for that of sessions that name none), kind, name, "
                   "types and shapes, bytes, and what it holds now",
                   "Only of this container; \"\" for that of sessions that name none");
  list->add_option("--task", chosen->task, "Only of this task: /job:ps/task:0");
  list->callback([chosen, list, &exit_code] {
    exit_code = list_state(*chosen, list->count("--container") > 0);
  });
  add("reset", "Clear a container on all tasks; what waits there fails",
      "Which; \"\" for that of sessions that name none")
      ->callback([chosen] { connect(*chosen).reset(chosen->container, no_line); });
  command->get_subcommand("reset")->get_option("--container")->required();
}

} // namespace troupe::cli
