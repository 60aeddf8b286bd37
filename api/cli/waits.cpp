// troupe waits: what the steps of a cluster wait for.
#include "troupe/api/cli/commands.hpp"
#include "troupe/api/cli/missing_tasks.hpp"
#include "troupe/api/cli/top/wait_report.hpp"
#include "troupe/api/cli/watching.hpp"
#include "troupe/runtime/types/printable.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>

namespace troupe::cli {
namespace {

struct waits_options : watched_cluster {
  size_t steps = 20;
  bool json = false;
};

nlohmann::ordered_json as_json(const std::vector<cluster_wait>& waits) {
  auto all = nlohmann::ordered_json::array();
  for (const auto& one : waits)
    all.push_back({{"step", one.step},
                   {"task", one.task},
                   {"for", one.what_for},
                   {"node", one.node},
                   {"target", one.target},
                   {"other_task", one.other_task},
                   {"detail", one.detail},
                   {"seconds", one.seconds},
                   {"steps", one.steps},
                   {"is_cause", one.is_cause}});
  return all;
}

int show(const waits_options& options) {
  auto watching = options.connect();
  auto cluster = look_at(*watching, options.patience(), kinds_of_waits);
  auto waits = waits_in(cluster);
  if (options.json)
    std::cout << printable_json(as_json(waits).dump(
                     2, ' ', false, nlohmann::ordered_json::error_handler_t::replace))
              << '\n';
  else
    std::cout << print_waits(waits, options.steps);
  std::cout << std::flush;
  return tell_problems(problems_in(cluster));
}

} // namespace

void add_waits(CLI::App& to, int& exit_code) {
  auto options = std::make_shared<waits_options>();
  auto* command = to.add_subcommand(
      "waits", "Which steps wait for which queue, tensor or task of a cluster, and since when");
  options->add_to(*command);
  command->add_option("--steps", options->steps, "How many steps are told one by one")
      ->capture_default_str();
  command->add_flag("--json", options->json, "As a JSON list, of all steps");
  command->callback([options, &exit_code] { exit_code = show(*options); });
}

} // namespace troupe::cli
