// Replicas on processes that are killed, stopped and restarted.
#include "tests/api/train/loop/regression.hpp"
#include "tests/api/train/loop/replica_run.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/watchdog.hpp"

#include <atomic>
#include <csignal>
#include <optional>

namespace troupe::test::replica_processes_test {
namespace {

using namespace std::chrono_literals;
using kind = replica_event_kind;
using clock_type = std::chrono::steady_clock;

constexpr std::chrono::milliseconds peer_timeout{1000};

// Three workers and two ps tasks, each a process.
struct cluster {
  watchdog watch{120s};
  cluster_spec spec = make_cluster(3, 2);
  std::vector<std::optional<task_process>> ps, workers;
  session s = session::connect(spec, {.cluster = {.peer_timeout = peer_timeout}});

  cluster() {
    ps.resize(2);
    workers.resize(3);
    for (int i = 0; i < 2; ++i)
      start(ps, "ps", i);
    for (int i = 0; i < 3; ++i)
      start(workers, "worker", i);
  }
  void start(std::vector<std::optional<task_process>>& processes, const char* job, int task) {
    processes[static_cast<size_t>(task)].emplace(spec, task_name{job, task}, peer_timeout);
  }

  replicas_options options(replica_mode mode) const {
    replicas_options settings;
    settings.mode = mode;
    settings.workers = 3;
    settings.ps_tasks = 2;
    settings.variables = replica_devices_options::spread::round_robin;
    settings.make_optimizer = [](edge) { return std::make_unique<gradient_descent>(0.1); };
    settings.batch = regression::batch;
    settings.retry_delay_seconds = 0.02;
    return settings;
  }
};

} // namespace

TEST_CASE("a replica whose task is killed fails alone, and returns with its task") {
  auto mode = GENERATE(replica_mode::async, replica_mode::bounded, replica_mode::sync);
  INFO(to_string(mode));
  cluster processes;
  auto options = processes.options(mode);
  options.backups = mode == replica_mode::sync ? 1 : 0;
  replica_run now{options};
  auto& training = now.start(options, processes.s);
  REQUIRE(now.await_step(20));
  processes.workers[0]->kill();
  REQUIRE(now.await(kind::lost, 0));
  CHECK(now.tells("/job:worker/task:0"));
  REQUIRE(now.await_steps_of(1, 50)); // the other replicas continue
  REQUIRE(now.await_steps_of(2, 50));
  processes.start(processes.workers, "worker", 0);
  REQUIRE(now.await(kind::back, 0));
  REQUIRE(now.await_steps_of(0, 50));
  training.request_stop();
  auto report = now.end();
  CHECK(report.end_reason == training_end::stop_requested);
  CHECK(report.replicas[1].failures == 0);
  CHECK(report.replicas[2].failures == 0);
  CHECK(now.count(kind::initialized) == 1);
  CHECK(now.count(kind::retrying) == 0);
  CHECK(regression::is_found(processes.s, training.chief()));
}

TEST_CASE("a replica whose task is frozen delays none of those that need not wait for it") {
  auto mode = GENERATE(replica_mode::async, replica_mode::sync);
  INFO(to_string(mode));
  cluster processes;
  auto options = processes.options(mode);
  options.backups = mode == replica_mode::sync ? 1 : 0;
  replica_run now{options};
  auto& training = now.start(options, processes.s);
  REQUIRE(now.await_step(20));
  processes.workers[2]->freeze();
  auto frozen = clock_type::now();
  REQUIRE(now.await_steps_of(0, 50));
  REQUIRE(now.await_steps_of(1, 50));
  CHECK(clock_type::now() - frozen < 10s * timeout_scale);
  REQUIRE(now.await(kind::lost, 2)); // after the peer timeout
  REQUIRE(now.await_steps_of(0, 50));
  ::kill(processes.workers[2]->pid(), SIGCONT);
  REQUIRE(now.await(kind::back, 2));
  REQUIRE(now.await_steps_of(2, 50));
  training.request_stop();
  auto report = now.end();
  CHECK(report.replicas[0].failures == 0);
  CHECK(regression::is_found(processes.s, training.chief()));
}

TEST_CASE(
    "checkpoints continue beside the steps, though a task does not report its random positions") {
  cluster processes;
  temporary_folder folder;
  auto options = processes.options(replica_mode::sync);
  options.backups = 1;
  options.checkpoints = folder / "m";
  options.checkpoint_seconds = 0.05;
  // So that the task does not count as gone.
  auto patient_session = session::connect(processes.spec);
  replica_run now{options};
  auto& training = now.start(options, patient_session);
  REQUIRE(now.await_step(20));
  processes.workers[2]->freeze();
  auto frozen = clock_type::now();
  REQUIRE(now.await_steps_of(0, 300)); // with many checkpoints; each would wait two seconds
  CHECK(clock_type::now() - frozen < 6s * timeout_scale * timeout_factor());
  ::kill(processes.workers[2]->pid(), SIGCONT);
  training.request_stop();
  now.end();
}

TEST_CASE("a run reaches its last step though a worker never returns") {
  auto mode = GENERATE(replica_mode::async, replica_mode::bounded);
  INFO(to_string(mode));
  auto freezes = GENERATE(false, true);
  INFO((freezes ? "frozen" : "killed"));
  cluster processes;
  auto options = processes.options(mode);
  options.last_step = 1000;
  options.lost_timeout_seconds = 0.5;
  options.give_up_timeout_seconds = 5 * timeout_scale;
  replica_run now{options};
  auto& training = now.start(options, processes.s);
  REQUIRE(now.await_step(20));
  if (freezes)
    processes.workers[1]->freeze();
  else
    processes.workers[1]->kill();
  replicas_report report;
  REQUIRE_NOTHROW(report = now.end());
  CHECK(report.end_reason == training_end::last_step);
  CHECK(report.step == 1000);
  CHECK(report.replicas[1].steps < 1000);
  CHECK(to_scalar<int64_t>(processes.s.fetch(training.global_step())) >= 1000);
}

TEST_CASE("without enough replicas a synchronous step waits, and continues when they return") {
  cluster processes;
  auto options = processes.options(replica_mode::sync);
  replica_run now{options};
  auto& training = now.start(options, processes.s);
  REQUIRE(now.await_step(20));
  processes.workers[0]->kill();
  REQUIRE(now.await(kind::lost, 0));
  auto step_before = now.step();
  processes.start(processes.workers, "worker", 0);
  REQUIRE(now.await(kind::back, 0));
  REQUIRE(now.await_step(step_before + 150));
  training.request_stop();
  now.end();
  CHECK(regression::is_found(processes.s, training.chief()));
}

TEST_CASE("ps tasks that are gone for a while are reported, and waited for") {
  cluster processes;
  temporary_folder folder;
  auto options = processes.options(GENERATE(replica_mode::async, replica_mode::sync));
  options.checkpoints = folder / "m";
  options.lost_timeout_seconds = 0.2;
  replica_run now{options};
  auto& training = now.start(options, processes.s);
  REQUIRE(now.await_step(20));
  processes.ps[0]->kill();
  REQUIRE(now.await(kind::retrying, -1));
  CHECK(now.tells("/job:ps/task:0"));
  processes.start(processes.ps, "ps", 0);
  REQUIRE(now.await(kind::recovered, -1));
  REQUIRE(now.await_steps_of(1, 20));
  training.request_stop();
  now.end();
}

TEST_CASE("a run ends within seconds, though a task is frozen") {
  cluster processes;
  auto options = processes.options(replica_mode::sync);
  replica_run now{options};
  auto& training = now.start(options, processes.s);
  REQUIRE(now.await_step(5));
  processes.workers[1]->freeze();
  training.request_stop();
  auto begin = clock_type::now();
  now.end();
  CHECK(clock_type::now() - begin < 16s * timeout_scale);
}

TEST_CASE(
    "where a ps task is killed and restarted, training continues from the newest checkpoint") {
  auto mode = GENERATE(replica_mode::async, replica_mode::bounded, replica_mode::sync);
  INFO(to_string(mode));
  auto ps_index = GENERATE(0, 1);
  INFO("ps task " << ps_index);
  cluster processes;
  temporary_folder folder;
  auto options = processes.options(mode);
  options.checkpoints = folder / "m";
  options.checkpoint_steps = 10;
  replica_run now{options};
  auto& training = now.start(options, processes.s);
  REQUIRE(now.await_step(60));
  REQUIRE(now.await(kind::saved, -1)); // otherwise there would be no checkpoint to restore
  processes.ps[static_cast<size_t>(ps_index)]->kill();
  processes.start(processes.ps, "ps", ps_index);
  REQUIRE(now.await(kind::recovered, -1));
  for (size_t i = 0; i < 3; ++i)
    REQUIRE(now.await_steps_of(i, 50));
  training.request_stop();
  auto report = now.end();
  CHECK(now.count(kind::restored) >= 1);
  CHECK(now.count(kind::initialized) == 1);
  CHECK(report.step > 60);
  CHECK(regression::is_found(processes.s, training.chief()));
}

} // namespace troupe::test::replica_processes_test
