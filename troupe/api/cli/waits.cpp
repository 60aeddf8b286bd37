// troupe waits: what the steps of a cluster wait for.
#include "troupe/api/cli/commands.hpp"
#include "troupe/api/cli/watching.hpp"
#include "troupe/runtime/insight/wait_report.hpp"

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

void visit_problems(const inspection& part) {
  if (auto problem = text_of(part.find("error")); !problem.empty())
    std::cerr << "troupe: " << part.ref << " is not told of: " << problem << '\n';
  for (const auto& child : part.children)
    visit_problems(child);
}

nlohmann::ordered_json as_json(const std::vector<cluster_wait>& waits) {
  auto all = nlohmann::ordered_json::array();
  for (const auto& one : waits)
    all.push_back({{"step", one.step},
                   {"task", one.task},
                   {"steps", one.steps},
                   {"for", one.what_for},
                   {"node", one.node},
                   {"target", one.target},
                   {"other_task", one.other_task},
                   {"detail", one.detail},
                   {"seconds", one.seconds},
                   {"is_cause", one.is_cause}});
  return all;
}

void show(const waits_options& options) {
  auto watching = options.connect();
  auto cluster = look_at(*watching, options, kinds_of_waits);
  visit_problems(cluster);
  auto waits = waits_in(cluster);
  if (options.json)
    std::cout << as_json(waits).dump(2, ' ', false,
                                     nlohmann::ordered_json::error_handler_t::replace)
              << '\n';
  else
    std::cout << print_waits(waits, options.steps);
}

} // namespace

void add_waits(CLI::App& to) {
  auto options = std::make_shared<waits_options>();
  auto* command = to.add_subcommand(
      "waits", "Which steps wait for which queue, tensor or task of a cluster, and since when");
  options->add_to(*command);
  command->add_option("--steps", options->steps, "How many steps are told one by one")
      ->capture_default_str();
  command->add_flag("--json", options->json, "As a JSON list, of all steps");
  command->callback([options] { show(*options); });
}

} // namespace troupe::cli
