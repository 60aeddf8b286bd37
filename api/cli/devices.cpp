// troupe devices: lists the devices of this machine or of a cluster.
#include "troupe/api/cli/commands.hpp"
#include "troupe/api/cli/missing_tasks.hpp"
#include "troupe/api/cli/security_options.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/api/session.hpp"
#include "troupe/runtime/types/printable.hpp"

#include <CLI/CLI.hpp>

#include <iomanip>
#include <iostream>
#include <memory>

namespace troupe::cli {
namespace {

int list(const std::string& cluster, double timeout, const security_options& security) {
  session_options options{.gpu = {.count = -1},
                          .cluster = {.tls = security.tls, .insecure = security.insecure},
                          .timeout =
                              std::chrono::milliseconds{static_cast<int64_t>(timeout * 1000)}};
  auto s = cluster.empty() ? session::local(options, no_line)
                           : session::connect(cluster, options, no_line);
  std::vector<task_problem> problems;
  for (const auto& device : s.devices(problems, no_line)) {
    std::cout << printable(device.name) << "  " << printable(device.kind);
    if (device.memory_bytes > 0)
      std::cout << "  " << std::fixed << std::setprecision(1)
                << static_cast<double>(device.memory_bytes) / (1 << 30) << " GiB";
    std::cout << "  " << printable(device.description) << '\n';
  }
  std::cout << std::flush;
  return print_problems(problems);
}

} // namespace

void add_devices(CLI::App& app, int& exit_code) {
  struct options {
    std::string cluster;
    double timeout = 10;
    security_options security;
  };
  auto chosen = std::make_shared<options>();
  auto* command =
      app.add_subcommand("devices", "List the devices of this machine, or of a cluster");
  command->add_option("--cluster", chosen->cluster, session_help);
  command
      ->add_option("--timeout", chosen->timeout, "Timeout for the answers of all tasks, in seconds")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 1e6));
  add_security(*command, chosen->security);
  command->callback([chosen, &exit_code] {
    exit_code = list(chosen->cluster, chosen->timeout, chosen->security);
  });
}

} // namespace troupe::cli
