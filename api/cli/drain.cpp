// troupe drain: has a task end in good order.
#include "troupe/api/cli/commands.hpp"
#include "troupe/api/cli/count_of.hpp"
#include "troupe/api/cli/watching.hpp"
#include "troupe/api/error.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <iostream>
#include <memory>
#include <thread>

namespace troupe::cli {
namespace {

constexpr std::chrono::seconds answer_patience{1};

struct drain_options : watched_cluster {
  std::string task;
  double wait = 0;
};

// Which process answers for the task; nothing where none does.
std::string incarnation_in(const result<inspection>& found) {
  return found ? std::string{text_of(found->find("incarnation"))} : "";
}

// A task that is busy or frozen does not answer in time; one that has ended cannot be reached, also
// by a new connection, or another process answers in its place.
void wait_for_end(observer& watching, const inspection_ref& task, std::string drained,
                  const drain_options& options) {
  constexpr std::chrono::milliseconds period{100};
  auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(options.wait);
  for (int not_reached = 0;;) {
    auto found = watching.inspect(task, {.depth = 0}, answer_patience);
    auto which = incarnation_in(found);
    if (drained.empty())
      drained = which;
    if (!which.empty() && which != drained)
      return;
    not_reached = found.status().kind() == error_kind::unavailable ? not_reached + 1 : 0;
    if (not_reached == 2)
      return;
    if (std::chrono::steady_clock::now() >= end && not_reached == 0)
      throw_if_failed(
          found ? failure(error_kind::deadline_exceeded, options.task, " still runs ",
                          count_of(static_cast<size_t>(number_of(found->find("steps_running"))),
                                   "step"),
                          " after ", options.wait, " s")
                : failure(error_kind::deadline_exceeded, options.task, " does not answer after ",
                          options.wait, " s: ", found.status().message()));
    std::this_thread::sleep_for(period);
  }
}

void drain(const drain_options& options) {
  auto ref = value_or_throw(inspection_ref::parse(options.task));
  auto task = ref.task();
  if (!task || !ref.within_task().empty())
    throw_if_failed(invalid("'", options.task, "' is no task; write /job:worker/task:0"));
  auto watching = options.connect();
  std::string drained;
  // A task that is still starting refuses connections.
  const auto until = std::chrono::steady_clock::now() + options.patience();
  while (options.wait > 0 && drained.empty() && std::chrono::steady_clock::now() < until) {
    drained = incarnation_in(watching->inspect(ref, {.depth = 0}, answer_patience));
    if (drained.empty())
      std::this_thread::sleep_for(std::chrono::milliseconds{50});
  }
  throw_if_failed(watching->drain(*task, options.patience()));
  if (options.wait <= 0) {
    std::cout << options.task << " is draining\n";
    return;
  }
  wait_for_end(*watching, ref, std::move(drained), options);
  std::cout << options.task << " has ended\n";
}

} // namespace

void add_drain(CLI::App& to) {
  auto options = std::make_shared<drain_options>();
  auto* command =
      to.add_subcommand("drain", "Have a task take nothing new, finish what has begun, and end");
  command->add_option("task", options->task, "Which: /job:worker/task:0")->required();
  options->add_to(*command);
  command->add_option("--wait", options->wait, "Seconds to wait for its end; 0: not at all")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command->callback([options] { drain(*options); });
}

} // namespace troupe::cli
