// troupe waits: lists the waits of a cluster's steps.
#include "troupe/api/cli/cluster_connection.hpp"
#include "troupe/api/cli/commands.hpp"
#include "troupe/api/cli/missing_tasks.hpp"
#include "troupe/api/cli/top/wait_report.hpp"
#include "troupe/runtime/types/printable.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>

namespace troupe::cli {
namespace {

struct waits_options : cluster_connection {
  size_t steps = 20;
  bool json = false;
};

nlohmann::ordered_json as_json(const std::vector<cluster_wait>& waits) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& wait : waits)
    list.push_back({{"step", wait.step},
                    {"task", wait.task},
                    {"for", wait.wait_kind},
                    {"node", wait.node},
                    {"target", wait.target},
                    {"other_task", wait.other_task},
                    {"detail", wait.detail},
                    {"seconds", wait.seconds},
                    {"steps", wait.steps},
                    {"is_cause", wait.is_cause}});
  return list;
}

int show(const waits_options& options) {
  auto tasks = options.connect();
  auto cluster = inspect_tasks(*tasks, options.answer_timeout(), kinds_of_waits);
  auto waits = waits_in(cluster);
  if (options.json)
    std::cout << printable_json(as_json(waits).dump(
                     2, ' ', false, nlohmann::ordered_json::error_handler_t::replace))
              << '\n';
  else
    std::cout << print_waits(waits, options.steps);
  std::cout << std::flush;
  return print_problems(problems_in(cluster));
}

} // namespace

void add_waits(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<waits_options>();
  auto* command = app.add_subcommand(
      "waits",
      "List the steps that wait, with the queue, tensor or task that they wait for, and the time");
  options->add_to(*command);
  command->add_option("--steps", options->steps, "Maximum number of steps to list in detail")
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print a JSON list of all steps");
  command->callback([options, &exit_code] { exit_code = show(*options); });
}

} // namespace troupe::cli
