// Replicas with failing checkpoints, with tasks that start late, and with few batches left.
#include "tests/api/train/loop/regression.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/watchdog.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <thread>

#include <sys/resource.h>

namespace troupe::test::replica_failures_test {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using kind = replica_event_kind;
namespace fs = std::filesystem;

replicas_options options_of(replica_mode mode, int workers) {
  replicas_options options;
  options.mode = mode;
  options.workers = workers;
  options.ps_tasks = 0;
  options.make_optimizer = [](edge) { return std::make_unique<gradient_descent>(0.1); };
  options.batch = regression::batch;
  options.retry_delay_seconds = 0.01;
  return options;
}

// The reported content of the clock of bounded replicas.
std::string clock_of(session& s) {
  std::string clock_text;
  for (const auto& entry : s.state_of().entries)
    if (entry.kind == "replica clock")
      clock_text += concat(entry.name, ": ", entry.content, "; ");
  return clock_text;
}

double processor_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  auto seconds_of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
}

} // namespace

TEST_CASE("with bounded staleness, no replica waits for a replica without batches") {
  watchdog watch;
  auto options = options_of(replica_mode::bounded, 3);
  options.max_staleness = 0; // each replica takes every third batch, except at the end
  options.last_step = 31;
  options.step_timeout_seconds = 3;
  auto s = session::local();
  graph_builder g;
  auto* stranger =
      replica_clock_join(replica_clock(g, 1024, {.shared_name = "replicas/clock"}), int64_t{7});
  std::atomic<int> times{0};
  auto stands_alone = [&] { return clock_of(s).find(": 1 replicas") != std::string::npos; };
  options.batch = [&](int64_t n) {
    if (n == 30 && times++ == 0) {
      CHECK(becomes_true(stands_alone)); // no batches are left for the other replicas
      s.run(stranger);
      throw error{error_kind::deadline_exceeded, "as if it had waited for the stranger"};
    }
    if (n == 30) { // another replica trains it; the clock is formed again
      CHECK(becomes_true([&] { return !stands_alone(); }));
      std::this_thread::sleep_for(50ms);
    }
    return regression::batch(n);
  };
  replicas training{regression::build, options};
  auto report = training.run(s);
  CHECK(report.step == 31);
  CHECK(times == 2);
  int64_t failures = 0;
  for (const auto& replica_report : report.replicas)
    failures += replica_report.failures;
  CHECK(failures == 1);
}

TEST_CASE("a failed checkpoint does not end a run whose variables are lost meanwhile") {
  watchdog watch;
  temporary_folder folder;
  fs::create_directories(folder / "m/latest"); // blocks the path, which must be a file
  auto options = options_of(replica_mode::async, 1);
  options.checkpoints = folder / "m";
  options.checkpoint_steps = 5;
  options.last_step = 30;
  auto s = session::local();
  std::atomic<bool> lost{false};
  options.batch = [&](int64_t n) {
    if (n == 5 && !lost.exchange(true)) {
      CHECK(becomes_true([&] { return fs::exists(folder / "m/step-5"); }));
      s.reset(); // before the chief has checked the pending write
    }
    return regression::batch(n);
  };
  std::string failure_text;
  options.on_event = [&](const replica_event& event) {
    if (event.kind != kind::warning || !failure_text.empty())
      return;
    failure_text = event.text;
    fs::remove(folder / "m/latest");
  };
  replicas training{regression::build, options};
  auto report = training.run(s);
  CHECK(report.step == 30);
  CHECK(report.checkpoint == folder / "m/step-30");
  CHECK_THAT(failure_text, Contains("m/latest"));
}

TEST_CASE("a checkpoint that cannot begin is retried once a second, and reported as often") {
  watchdog watch;
  temporary_folder folder;
  std::ofstream{folder / "file"};
  auto options = options_of(replica_mode::async, 1);
  options.checkpoints = folder / "file/m"; // the path of a file cannot be a folder
  options.checkpoint_options.sharded_by_task = true;
  options.resume = false;
  options.checkpoint_steps = 1;
  options.last_step = 10;
  using clock = std::chrono::steady_clock;
  std::mutex mutex;
  std::vector<clock::time_point> failure_times;
  options.on_event = [&](const replica_event& event) {
    std::lock_guard guard{mutex};
    if (event.kind == kind::warning)
      failure_times.push_back(clock::now());
  };
  options.batch = [&](int64_t n) {
    if (n == 5) {
      CHECK(becomes_true([&] {
        std::lock_guard guard{mutex};
        return failure_times.size() >= 3;
      }));
      fs::remove(folder / "file");
    }
    return regression::batch(n);
  };
  replicas training{regression::build, options};
  auto s = session::local();
  auto report = training.run(s);
  CHECK(report.checkpoint == folder / "file/m/step-10");
  REQUIRE(failure_times.size() >= 3);
  CHECK(failure_times[2] - failure_times[0] > 1500ms);
}

TEST_CASE("a slow checkpoint does not delay the chief's other work") {
  watchdog watch;
  temporary_folder folder;
  auto options = options_of(replica_mode::async, 1);
  options.checkpoints = folder / "m";
  options.checkpoint_seconds = 0.01;
  options.checkpoint_options.keep_newest = 1;
  std::promise<void> written;
  auto is_written = written.get_future().share();
  std::atomic<bool> writing{false};
  options.checkpoint_options.on_warning = [&](const std::string& text) {
    if (text.find("was not removed") == std::string::npos)
      return;
    writing = true;
    is_written.wait_for(20s);
  };
  int save_attempts = 0;
  double used = -1;
  options.batch = [&](int64_t n) {
    if (!writing) {
      std::error_code ignored;
      for (const auto& file : fs::directory_iterator{folder.path()}) // there is exactly one
        for (const auto& old : fs::directory_iterator{file.path()})
          if (old.path().filename().string().starts_with("step-"))
            fs::create_directories(old.path() / "notes/a", ignored);
      std::this_thread::sleep_for(5ms);
    } else if (++save_attempts == 3) { // the next attempt is due
      std::this_thread::sleep_for(50ms);
      auto before = processor_seconds();
      std::this_thread::sleep_for(500ms);
      used = processor_seconds() - before;
      written.set_value();
    }
    return regression::batch(n);
  };
  options.stop_when = [&](const training_progress&) { return used >= 0; };
  replicas training{regression::build, options};
  auto s = session::local();
  CHECK(training.run(s).end_reason == training_end::condition);
  CHECK(used >= 0);
  CHECK(used < 0.25);
}

TEST_CASE("the chief of sync waits for an unreachable task when its step is prepared") {
  watchdog watch;
  auto cluster = make_cluster(1, 2);
  auto server = start_task(cluster, {"ps", 0}), worker = start_task(cluster, {"worker", 0});
  std::unique_ptr<task> late_task;
  auto s = session::connect(cluster, {.timeout = 1s});
  auto options = options_of(replica_mode::sync, 1);
  options.ps_tasks = 1;
  options.last_step = 5;
  graph_builder* built_graph = nullptr;
  // Run by the chief's step alone.
  options.transform_gradients = [&](const std::vector<variable_gradient>& gradients) {
    auto placement = built_graph->on("/job:ps/task:1");
    auto changed = gradients;
    for (auto& variable_change : changed)
      variable_change.gradient = variable_change.gradient * 0.5f;
    return changed;
  };
  std::string failure_text;
  options.on_event = [&](const replica_event& event) {
    if (event.kind != kind::retrying || late_task)
      return;
    failure_text = event.text;
    late_task = start_task(cluster, {"ps", 1});
  };
  replicas training{[&](graph_builder& g, int replica) {
                      built_graph = &g;
                      return regression::build(g, replica);
                    },
                    options};
  CHECK(training.run(s).step == 5);
  CHECK_THAT(failure_text, Contains("/job:ps/task:1"));
}

} // namespace troupe::test::replica_failures_test
