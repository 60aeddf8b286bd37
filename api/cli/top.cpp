// troupe top: prints an overview of a cluster repeatedly.
#include "troupe/api/cli/cluster_connection.hpp"
#include "troupe/api/cli/commands.hpp"
#include "troupe/api/cli/missing_tasks.hpp"
#include "troupe/api/cli/safe_output.hpp"
#include "troupe/api/cli/stop_signals.hpp"
#include "troupe/api/cli/top/cluster_frame.hpp"
#include "troupe/runtime/types/printable.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <memory>

namespace troupe::cli {
namespace {

using json = nlohmann::ordered_json;
using clock = std::chrono::steady_clock;

struct top_options : cluster_connection {
  double interval = 2;
  size_t lines = 10;
  bool once = false, json = false;
};

json as_json(const task_row& task) {
  if (!task.problem.empty())
    return {{"task", task.task}, {"problem", task.problem}};
  return {{"task", task.task},
          {"draining", task.draining},
          {"initialized", task.is_initialized},
          {"uptime_seconds", task.uptime},
          {"steps_per_second", task.steps_rate},
          {"failed_per_second", task.failed_rate},
          {"steps_running", task.running},
          {"connections", task.connections},
          {"received_bytes_per_second", task.in_rate},
          {"sent_bytes_per_second", task.out_rate},
          {"queued_bytes", task.queued},
          {"resident_bytes", task.resident},
          {"device_bytes", task.device_bytes},
          {"processors", task.busy}};
}

json as_json(const queue_row& queue) {
  return {{"task", queue.task},
          {"name", queue.name},
          {"size", queue.size},
          {"mean_size", queue.mean_size},
          {"puts_per_second", queue.puts_rate},
          {"takes_per_second", queue.takes_rate},
          {"puts_waiting", queue.puts_waiting},
          {"takes_waiting", queue.takes_waiting}};
}

json as_json(const session_row& session) {
  return {{"task", session.task},
          {"client", session.client},
          {"age_seconds", session.age},
          {"steps_per_second", session.steps_rate},
          {"failed_per_second", session.failed_rate},
          {"steps_running", session.running},
          {"queued_steps", session.queued_steps},
          {"bytes", session.bytes}};
}

json as_json(const link_row& link) {
  return {{"task", link.task},
          {"peer", link.peer},
          {"last_heard_seconds", link.last_heard},
          {"received_bytes_per_second", link.in_rate},
          {"sent_bytes_per_second", link.out_rate},
          {"queued_bytes", link.queued}};
}

json as_json(const wait_summary& wait) {
  return {{"task", wait.task},
          {"target", wait.target},
          {"steps", wait.steps},
          {"longest_seconds", wait.longest}};
}

json as_json(const member_row& member) {
  return {{"member", member.member},
          {"presence", member.presence},
          {"incarnation", member.incarnation},
          {"address", member.address}};
}

template <class Row>
json as_json(const std::vector<Row>& rows) {
  auto array = json::array();
  for (const auto& row : rows)
    array.push_back(as_json(row));
  return array;
}

// Returns null if the cluster is not joined.
json members_as_json(const cluster_frame& frame) {
  const auto& counts = frame.members;
  if (counts.coordinator.empty())
    return nullptr;
  return {{"coordinator", counts.coordinator}, {"changes", counts.change}, {"here", counts.present},
          {"unreachable", counts.unreachable}, {"left", counts.left},      {"gone", counts.gone},
          {"away", as_json(frame.away)}};
}

json as_json(const cluster_frame& frame) {
  return {{"seconds", frame.seconds},
          {"tasks", as_json(frame.tasks)},
          {"members", members_as_json(frame)},
          {"queues", as_json(frame.queues)},
          {"hosted_sessions", as_json(frame.sessions)},
          {"links", as_json(frame.links)},
          {"waits", as_json(frame.waits)}};
}

struct timed_inspection {
  inspection cluster;
  clock::time_point at;
};

// Responsive tasks answer at the beginning, so the inspection has that time, however long silent
// tasks take.
timed_inspection inspect_cluster(observer& tasks, std::chrono::milliseconds timeout) {
  auto now = clock::now();
  return {inspect_tasks(tasks, timeout, kinds_of_frames), now};
}

// Returns the timeout of the second inspection: the time that the first one has left, and some more
// for silent tasks.
std::chrono::milliseconds remaining_timeout(std::chrono::milliseconds timeout,
                                            clock::time_point begin) {
  auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - begin);
  return std::max(timeout - elapsed, timeout / 4 + std::chrono::milliseconds{1});
}

int show(const top_options& options) {
  auto stop = block_stop_signals();
  auto tasks = options.connect();
  auto period =
      std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(options.interval));
  auto before = inspect_cluster(*tasks, options.answer_timeout());
  auto timeout = options.once ? remaining_timeout(options.answer_timeout(), before.at)
                              : options.answer_timeout();
  for (;;) {
    auto remaining = std::max<std::chrono::nanoseconds>(before.at + period - clock::now(),
                                                        std::chrono::milliseconds{1});
    timespec pause{static_cast<time_t>(remaining.count() / 1'000'000'000),
                   static_cast<long>(remaining.count() % 1'000'000'000)};
    if (::sigtimedwait(&stop, nullptr, &pause) > 0)
      return 0;
    auto now = inspect_cluster(*tasks, timeout);
    auto frame = compare(before.cluster, now.cluster,
                         std::chrono::duration<double>(now.at - before.at).count());
    if (options.json)
      std::cout << printable_json(
                       as_json(frame).dump(-1, ' ', false, json::error_handler_t::replace))
                << std::endl;
    else // overwrites the previous screen
      (options.once ? std::cout : clear_screen(std::cout))
          << print(frame, options.lines) << std::flush;
    if (options.once)
      return problems_in(now.cluster).empty() ? 0 : some_missing;
    before = std::move(now);
  }
}

} // namespace

void add_top(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<top_options>();
  auto* command = app.add_subcommand(
      "top", "Tasks, steps, links, memory, queues and waits of a cluster, until Ctrl-C");
  options->add_to(*command);
  command
      ->add_option("--interval", options->interval,
                   "Seconds between two inspections, over which rates are computed")
      ->capture_default_str()
      ->check(CLI::Range(0.05, 3600.0));
  command
      ->add_option("--lines", options->lines, "Maximum number of queues, sessions, links and waits")
      ->capture_default_str();
  command->add_flag("--once", options->once, "Print once, after two inspections");
  command->add_flag("--json", options->json, "Print JSON, a line for each inspection");
  command->callback([options, &exit_code] { exit_code = show(*options); });
}

} // namespace troupe::cli
