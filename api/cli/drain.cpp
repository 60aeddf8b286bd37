// troupe drain: ends a task in an orderly way.
#include "troupe/api/cli/cluster_connection.hpp"
#include "troupe/api/cli/commands.hpp"
#include "troupe/api/cli/count_of.hpp"
#include "troupe/api/error.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <iostream>
#include <memory>
#include <thread>

namespace troupe::cli {
namespace {

constexpr std::chrono::seconds probe_timeout{1};

struct drain_options : cluster_connection {
  std::string task;
  double wait = 0;
};

// Returns the incarnation of the process that answers for the task; empty if none does.
std::string incarnation_in(const result<inspection>& reply) {
  return reply ? std::string{text_of(reply->find("incarnation"))} : "";
}

// Waits for the end of the drained process. A task that is busy or frozen does not answer in time.
// A task that has ended cannot be reached by two connections in a row, or another process answers
// for it.
void wait_for_end(observer& watching, const inspection_ref& task, std::string drained,
                  const drain_options& options) {
  constexpr std::chrono::milliseconds period{100};
  auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(options.wait);
  for (int unreachable_count = 0;;) {
    auto reply = watching.inspect(task, {.depth = 0}, probe_timeout);
    auto incarnation = incarnation_in(reply);
    if (drained.empty())
      drained = incarnation;
    if (!incarnation.empty() && incarnation != drained)
      return;
    unreachable_count =
        reply.status().kind() == error_kind::unavailable ? unreachable_count + 1 : 0;
    if (unreachable_count == 2)
      return;
    if (std::chrono::steady_clock::now() >= end && unreachable_count == 0)
      throw_if_failed(
          reply ? failure(error_kind::deadline_exceeded, options.task, " still runs ",
                          count_of(static_cast<size_t>(number_of(reply->find("steps_running"))),
                                   "step"),
                          " after ", options.wait, " s")
                : failure(error_kind::deadline_exceeded, options.task, " does not answer after ",
                          options.wait, " s: ", reply.status().message()));
    std::this_thread::sleep_for(period);
  }
}

void drain(const drain_options& options) {
  auto ref = value_or_throw(inspection_ref::parse(options.task));
  auto task = ref.task();
  if (!task || !ref.within_task().empty())
    throw_if_failed(
        invalid("'", options.task, "' is not a task; write for instance /job:worker/task:0"));
  auto watching = options.connect();
  std::string drained;
  // A task that is still starting refuses connections.
  const auto deadline = std::chrono::steady_clock::now() + options.answer_timeout();
  while (options.wait > 0 && drained.empty() && std::chrono::steady_clock::now() < deadline) {
    drained = incarnation_in(watching->inspect(ref, {.depth = 0}, probe_timeout));
    if (drained.empty())
      std::this_thread::sleep_for(std::chrono::milliseconds{50});
  }
  throw_if_failed(watching->drain(*task, options.answer_timeout()));
  if (options.wait <= 0) {
    std::cout << options.task << " is draining\n";
    return;
  }
  wait_for_end(*watching, ref, std::move(drained), options);
  std::cout << options.task << " has ended\n";
}

} // namespace

void add_drain(CLI::App& app) {
  auto options = std::make_shared<drain_options>();
  auto* command =
      app.add_subcommand("drain", "Make a task refuse new work, finish work in progress, and end");
  command->add_option("task", options->task, "The task: /job:worker/task:0")->required();
  options->add_to(*command);
  command->add_option("--wait", options->wait, "Seconds to wait for its end; 0: do not wait")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command->callback([options] { drain(*options); });
}

} // namespace troupe::cli
