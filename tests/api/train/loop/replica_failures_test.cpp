// What replicas make of checkpoints that fail, of tasks that come late, and of what is left to do.
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
using kind = replica_event::kind;
namespace fs = std::filesystem;

replicas_options options_of(replica_mode mode, int workers) {
  replicas_options how;
  how.mode = mode;
  how.workers = workers;
  how.ps_tasks = 0;
  how.make_optimizer = [](edge) { return std::make_unique<gradient_descent>(0.1); };
  how.batch = regression::batch;
  how.retry_seconds = 0.01;
  return how;
}

// What the clock of bounded replicas says of itself.
std::string clock_of(session& in) {
  std::string found;
  for (const auto& one : in.state_of().entries)
    if (one.kind == "replica clock")
      found += concat(one.name, ": ", one.content, "; ");
  return found;
}

double processor_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return of(used.ru_utime) + of(used.ru_stime);
}

} // namespace

TEST_CASE("with bounded staleness, nobody waits for a replica that has nothing to do") {
  watchdog watch;
  auto how = options_of(replica_mode::bounded, 3);
  how.max_lead = 0; // each takes every third batch, but for the last
  how.last_step = 31;
  how.step_seconds = 3;
  auto s = session::local();
  graph_builder g;
  auto* stranger =
      replica_clock_join(replica_clock(g, 1024, {.shared_name = "replicas/clock"}), int64_t{7});
  std::atomic<int> times{0};
  auto stands_alone = [&] { return clock_of(s).find(": 1 replicas") != std::string::npos; };
  how.batch = [&](int64_t n) {
    if (n == 30 && times++ == 0) {
      CHECK(soon(stands_alone)); // the others have nothing to do
      s.run(stranger);
      throw error{error_kind::deadline_exceeded, "as if it had waited for the stranger"};
    }
    if (n == 30) { // another has it; the clock is formed anew
      CHECK(soon([&] { return !stands_alone(); }));
      std::this_thread::sleep_for(50ms);
    }
    return regression::batch(n);
  };
  replicas training{regression::build, how};
  auto report = training.run(s);
  CHECK(report.step == 31);
  CHECK(times == 2);
  int64_t failures = 0;
  for (const auto& one : report.replicas)
    failures += one.failures;
  CHECK(failures == 1);
}

TEST_CASE("a checkpoint that fails does not end the run of which variables are lost meanwhile") {
  watchdog watch;
  temporary_folder folder;
  fs::create_directories(folder / "m/latest"); // which is to be a file
  auto how = options_of(replica_mode::async, 1);
  how.checkpoints = folder / "m";
  how.checkpoint_steps = 5;
  how.last_step = 30;
  auto s = session::local();
  std::atomic<bool> lost{false};
  how.batch = [&](int64_t n) {
    if (n == 5 && !lost.exchange(true)) {
      CHECK(soon([&] { return fs::exists(folder / "m/step-5"); }));
      s.reset(); // before the chief has looked at what is being written
    }
    return regression::batch(n);
  };
  std::string told;
  how.on_event = [&](const replica_event& what) {
    if (what.what != kind::warning || !told.empty())
      return;
    told = what.text;
    fs::remove(folder / "m/latest");
  };
  replicas training{regression::build, how};
  auto report = training.run(s);
  CHECK(report.step == 30);
  CHECK(report.checkpoint == folder / "m/step-30");
  CHECK_THAT(told, Contains("m/latest"));
}

TEST_CASE("a checkpoint that cannot be begun is tried once a second, and told of as often") {
  watchdog watch;
  temporary_folder folder;
  std::ofstream{folder / "file"};
  auto how = options_of(replica_mode::async, 1);
  how.checkpoints = folder / "file/m"; // the file is to be a folder
  how.keep.by_tasks = true;
  how.resume = false;
  how.checkpoint_steps = 1;
  how.last_step = 10;
  using clock = std::chrono::steady_clock;
  std::mutex mutex;
  std::vector<clock::time_point> told;
  how.on_event = [&](const replica_event& what) {
    std::lock_guard guard{mutex};
    if (what.what == kind::warning)
      told.push_back(clock::now());
  };
  how.batch = [&](int64_t n) {
    if (n == 5) {
      CHECK(soon([&] {
        std::lock_guard guard{mutex};
        return told.size() >= 3;
      }));
      fs::remove(folder / "file");
    }
    return regression::batch(n);
  };
  replicas training{regression::build, how};
  auto s = session::local();
  auto report = training.run(s);
  CHECK(report.checkpoint == folder / "file/m/step-10");
  REQUIRE(told.size() >= 3);
  CHECK(told[2] - told[0] > 1500ms);
}

TEST_CASE("a chief whose checkpoint takes long to write has nothing to do meanwhile") {
  watchdog watch;
  temporary_folder folder;
  auto how = options_of(replica_mode::async, 1);
  how.checkpoints = folder / "m";
  how.checkpoint_seconds = 0.01;
  how.keep.keep_newest = 1;
  std::promise<void> written;
  auto is_written = written.get_future().share();
  std::atomic<bool> writing{false};
  how.keep.on_warning = [&](const std::string& text) {
    if (text.find("was not removed") == std::string::npos)
      return;
    writing = true;
    is_written.wait_for(20s);
  };
  int more = 0;
  double used = -1;
  how.batch = [&](int64_t n) {
    if (!writing) {
      std::error_code ignored;
      for (const auto& one : fs::directory_iterator{folder.path()}) // there is one at last
        for (const auto& old : fs::directory_iterator{one.path()})
          if (old.path().filename().string().starts_with("step-"))
            fs::create_directories(old.path() / "notes/a", ignored);
      std::this_thread::sleep_for(5ms);
    } else if (++more == 3) { // the next one is due
      std::this_thread::sleep_for(50ms);
      auto before = processor_seconds();
      std::this_thread::sleep_for(500ms);
      used = processor_seconds() - before;
      written.set_value();
    }
    return regression::batch(n);
  };
  how.when = [&](const training_progress&) { return used >= 0; };
  replicas training{regression::build, how};
  auto s = session::local();
  CHECK(training.run(s).why == training_end::condition);
  CHECK(used >= 0);
  CHECK(used < 0.25);
}

TEST_CASE("the chief of sync waits for a task that is not there when its step is prepared") {
  watchdog watch;
  auto cluster = make_cluster(1, 2);
  auto server = start_task(cluster, {"ps", 0}), worker = start_task(cluster, {"worker", 0});
  std::unique_ptr<task> late;
  auto s = session::connect(cluster, {.timeout = 1s});
  auto how = options_of(replica_mode::sync, 1);
  how.ps_tasks = 1;
  how.last_step = 5;
  graph_builder* made = nullptr;
  how.change = [&](const std::vector<variable_gradient>& of) { // by the chief's step alone
    auto on = made->on("/job:ps/task:1");
    auto changed = of;
    for (auto& one : changed)
      one.gradient = one.gradient * 0.5f;
    return changed;
  };
  std::string why;
  how.on_event = [&](const replica_event& what) {
    if (what.what != kind::retrying || late)
      return;
    why = what.text;
    late = start_task(cluster, {"ps", 1});
  };
  replicas training{[&](graph_builder& g, int replica) {
                      made = &g;
                      return regression::build(g, replica);
                    },
                    how};
  CHECK(training.run(s).step == 5);
  CHECK_THAT(why, Contains("/job:ps/task:1"));
}

} // namespace troupe::test::replica_failures_test
