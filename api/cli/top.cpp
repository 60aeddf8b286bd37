// troupe top: a cluster at a glance, again and again.
#include "troupe/api/cli/commands.hpp"
#include "troupe/api/cli/missing_tasks.hpp"
#include "troupe/api/cli/safe_output.hpp"
#include "troupe/api/cli/stop_signals.hpp"
#include "troupe/api/cli/top/cluster_frame.hpp"
#include "troupe/api/cli/watching.hpp"
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

struct top_options : watched_cluster {
  double every = 2;
  size_t lines = 10;
  bool once = false, json = false;
};

json as_json(const cluster_frame& of) {
  auto tasks = json::array(), queues = json::array(), sessions = json::array(),
       links = json::array(), waits = json::array(), away = json::array();
  for (const auto& one : of.tasks)
    if (!one.problem.empty())
      tasks.push_back({{"task", one.task}, {"problem", one.problem}});
    else
      tasks.push_back({{"task", one.task},
                       {"draining", one.draining},
                       {"filled", one.filled},
                       {"uptime_seconds", one.uptime},
                       {"steps_per_second", one.steps_rate},
                       {"failed_per_second", one.failed_rate},
                       {"steps_running", one.running},
                       {"connections", one.connections},
                       {"received_bytes_per_second", one.in_rate},
                       {"sent_bytes_per_second", one.out_rate},
                       {"queued_bytes", one.queued},
                       {"resident_bytes", one.resident},
                       {"device_bytes", one.device_bytes},
                       {"processors", one.busy}});
  for (const auto& one : of.queues)
    queues.push_back({{"task", one.task},
                      {"name", one.name},
                      {"size", one.size},
                      {"mean_size", one.mean_size},
                      {"puts_per_second", one.puts_rate},
                      {"takes_per_second", one.takes_rate},
                      {"puts_waiting", one.puts_waiting},
                      {"takes_waiting", one.takes_waiting}});
  for (const auto& one : of.sessions)
    sessions.push_back({{"task", one.task},
                        {"client", one.client},
                        {"age_seconds", one.age},
                        {"steps_per_second", one.steps_rate},
                        {"failed_per_second", one.failed_rate},
                        {"steps_running", one.running},
                        {"steps_in_line", one.in_line},
                        {"bytes", one.bytes}});
  for (const auto& one : of.links)
    links.push_back({{"task", one.task},
                     {"peer", one.peer},
                     {"last_heard_seconds", one.last_heard},
                     {"received_bytes_per_second", one.in_rate},
                     {"sent_bytes_per_second", one.out_rate},
                     {"queued_bytes", one.queued}});
  for (const auto& one : of.waits)
    waits.push_back({{"task", one.task},
                     {"target", one.target},
                     {"steps", one.steps},
                     {"longest_seconds", one.longest}});
  json members; // null: the cluster is not joined
  for (const auto& one : of.away)
    away.push_back({{"member", one.member},
                    {"presence", one.presence},
                    {"incarnation", one.incarnation},
                    {"address", one.address}});
  if (const auto& all = of.members; !all.coordinator.empty())
    members = {{"coordinator", all.coordinator},
               {"changes", all.change},
               {"here", all.here},
               {"unreachable", all.unreachable},
               {"left", all.left},
               {"gone", all.gone},
               {"away", away}};
  return {{"seconds", of.seconds},       {"tasks", tasks}, {"members", members}, {"queues", queues},
          {"hosted_sessions", sessions}, {"links", links}, {"waits", waits}};
}

struct look {
  inspection cluster;
  clock::time_point at;
};

// Tasks that answer do so at its beginning, however long others are waited for.
look take(observer& from, std::chrono::milliseconds patience) {
  auto now = clock::now();
  return {look_at(from, patience, kinds_of_frames), now};
}

// The second look at a silent task has what the first has left of the timeout, and a little.
std::chrono::milliseconds what_is_left(std::chrono::milliseconds timeout, clock::time_point begin) {
  auto taken = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - begin);
  return std::max(timeout - taken, timeout / 4 + std::chrono::milliseconds{1});
}

int show(const top_options& options) {
  auto stop = block_stop_signals();
  auto watching = options.connect();
  auto period =
      std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(options.every));
  auto before = take(*watching, options.patience());
  auto patience = options.once ? what_is_left(options.patience(), before.at) : options.patience();
  for (;;) {
    auto rest = std::max<std::chrono::nanoseconds>(before.at + period - clock::now(),
                                                   std::chrono::milliseconds{1});
    timespec pause{static_cast<time_t>(rest.count() / 1'000'000'000),
                   static_cast<long>(rest.count() % 1'000'000'000)};
    if (::sigtimedwait(&stop, nullptr, &pause) > 0)
      return 0;
    auto now = take(*watching, patience);
    auto frame = compare(before.cluster, now.cluster,
                         std::chrono::duration<double>(now.at - before.at).count());
    if (options.json)
      std::cout << printable_json(
                       as_json(frame).dump(-1, ' ', false, json::error_handler_t::replace))
                << std::endl;
    else // from the upper left corner, over what was there
      (options.once ? std::cout : clear_screen(std::cout))
          << print(frame, options.lines) << std::flush;
    if (options.once)
      return problems_in(now.cluster).empty() ? 0 : some_missing;
    before = std::move(now);
  }
}

} // namespace

void add_top(CLI::App& to, int& exit_code) {
  auto options = std::make_shared<top_options>();
  auto* command = to.add_subcommand(
      "top", "Tasks, steps, links, memory, queues and waits of a cluster, until Ctrl-C");
  options->add_to(*command);
  command
      ->add_option("--every", options->every, "Seconds between two looks; rates are of that time")
      ->capture_default_str()
      ->check(CLI::Range(0.05, 3600.0));
  command->add_option("--lines", options->lines, "How many queues, sessions, links and waits")
      ->capture_default_str();
  command->add_flag("--once", options->once, "Show it once, after two looks");
  command->add_flag("--json", options->json, "As JSON, a line for each look");
  command->callback([options, &exit_code] { exit_code = show(*options); });
}

} // namespace troupe::cli
