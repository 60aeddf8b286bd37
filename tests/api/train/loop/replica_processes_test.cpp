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
using kind = replica_event::kind;
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
  void start(std::vector<std::optional<task_process>>& in, const char* job, int task) {
    in[static_cast<size_t>(task)].emplace(spec, task_name{job, task}, peer_timeout);
  }

  replicas_options options(replica_mode mode) const {
    replicas_options how;
    how.mode = mode;
    how.workers = 3;
    how.ps_tasks = 2;
    how.variables = replica_devices_options::spread::by_turns;
    how.make_optimizer = [](edge) { return std::make_unique<gradient_descent>(0.1); };
    how.batch = regression::batch;
    how.retry_seconds = 0.02;
    return how;
  }
};

} // namespace

TEST_CASE("a replica whose task is killed fails alone, and comes back when its task does") {
  auto mode = GENERATE(replica_mode::async, replica_mode::bounded, replica_mode::sync);
  INFO(to_string(mode));
  cluster all;
  auto how = all.options(mode);
  how.backups = mode == replica_mode::sync ? 1 : 0;
  replica_run now{how};
  auto& training = now.start(how, all.s);
  REQUIRE(now.await_step(20));
  all.workers[0]->kill();
  REQUIRE(now.await(kind::lost, 0));
  CHECK(now.tells("/job:worker/task:0"));
  REQUIRE(now.await_steps_of(1, 50)); // the others go on
  REQUIRE(now.await_steps_of(2, 50));
  all.start(all.workers, "worker", 0);
  REQUIRE(now.await(kind::back, 0));
  REQUIRE(now.await_steps_of(0, 50));
  training.request_stop();
  auto report = now.end();
  CHECK(report.why == training_end::asked);
  CHECK(report.replicas[1].failures == 0);
  CHECK(report.replicas[2].failures == 0);
  CHECK(now.count(kind::initialized) == 1);
  CHECK(now.count(kind::retrying) == 0);
  CHECK(regression::is_found(all.s, training.chief()));
}

TEST_CASE("a replica whose task is stopped holds up none of those that need not wait for it") {
  auto mode = GENERATE(replica_mode::async, replica_mode::sync);
  INFO(to_string(mode));
  cluster all;
  auto how = all.options(mode);
  how.backups = mode == replica_mode::sync ? 1 : 0;
  replica_run now{how};
  auto& training = now.start(how, all.s);
  REQUIRE(now.await_step(20));
  all.workers[2]->freeze();
  auto frozen = clock_type::now();
  REQUIRE(now.await_steps_of(0, 50));
  REQUIRE(now.await_steps_of(1, 50));
  CHECK(clock_type::now() - frozen < 10s * slowness);
  REQUIRE(now.await(kind::lost, 2)); // when the peer timeout is over
  REQUIRE(now.await_steps_of(0, 50));
  ::kill(all.workers[2]->pid(), SIGCONT);
  REQUIRE(now.await(kind::back, 2));
  REQUIRE(now.await_steps_of(2, 50));
  training.request_stop();
  auto report = now.end();
  CHECK(report.replicas[0].failures == 0);
  CHECK(regression::is_found(all.s, training.chief()));
}

TEST_CASE("checkpoints go on beside the steps, though a task does not say where it stands") {
  cluster all;
  temporary_folder folder;
  auto how = all.options(replica_mode::sync);
  how.backups = 1;
  how.checkpoints = folder / "m";
  how.checkpoint_seconds = 0.05;
  auto patient = session::connect(all.spec); // so that it does not count as gone
  replica_run now{how};
  auto& training = now.start(how, patient);
  REQUIRE(now.await_step(20));
  all.workers[2]->freeze();
  auto frozen = clock_type::now();
  REQUIRE(now.await_steps_of(0, 300)); // with many checkpoints; each would wait two seconds
  CHECK(clock_type::now() - frozen < 6s * slowness * patience_factor());
  ::kill(all.workers[2]->pid(), SIGCONT);
  training.request_stop();
  now.end();
}

TEST_CASE("a run comes to its last step though a worker never comes back") {
  auto mode = GENERATE(replica_mode::async, replica_mode::bounded);
  INFO(to_string(mode));
  auto freezes = GENERATE(false, true);
  INFO((freezes ? "frozen" : "killed"));
  cluster all;
  auto how = all.options(mode);
  how.last_step = 1000;
  how.lost_seconds = 0.5;
  how.give_up_seconds = 5 * slowness;
  replica_run now{how};
  auto& training = now.start(how, all.s);
  REQUIRE(now.await_step(20));
  if (freezes)
    all.workers[1]->freeze();
  else
    all.workers[1]->kill();
  replicas_report report;
  REQUIRE_NOTHROW(report = now.end());
  CHECK(report.why == training_end::last_step);
  CHECK(report.step == 1000);
  CHECK(report.replicas[1].steps < 1000);
  CHECK(to_scalar<int64_t>(all.s.fetch(training.global_step())) >= 1000);
}

TEST_CASE("without enough replicas a synchronous step waits, and goes on when they are back") {
  cluster all;
  auto how = all.options(replica_mode::sync);
  replica_run now{how};
  auto& training = now.start(how, all.s);
  REQUIRE(now.await_step(20));
  all.workers[0]->kill();
  REQUIRE(now.await(kind::lost, 0));
  auto then = now.step();
  all.start(all.workers, "worker", 0);
  REQUIRE(now.await(kind::back, 0));
  REQUIRE(now.await_step(then + 150));
  training.request_stop();
  now.end();
  CHECK(regression::is_found(all.s, training.chief()));
}

TEST_CASE("ps tasks that are gone for a while are told of, and waited for") {
  cluster all;
  temporary_folder folder;
  auto how = all.options(GENERATE(replica_mode::async, replica_mode::sync));
  how.checkpoints = folder / "m";
  how.lost_seconds = 0.2;
  replica_run now{how};
  auto& training = now.start(how, all.s);
  REQUIRE(now.await_step(20));
  all.ps[0]->kill();
  REQUIRE(now.await(kind::retrying, -1));
  CHECK(now.tells("/job:ps/task:0"));
  all.start(all.ps, "ps", 0);
  REQUIRE(now.await(kind::recovered, -1));
  REQUIRE(now.await_steps_of(1, 20));
  training.request_stop();
  now.end();
}

TEST_CASE("a run ends within seconds, though a task is frozen") {
  cluster all;
  auto how = all.options(replica_mode::sync);
  replica_run now{how};
  auto& training = now.start(how, all.s);
  REQUIRE(now.await_step(5));
  all.workers[1]->freeze();
  training.request_stop();
  auto begin = clock_type::now();
  now.end();
  CHECK(clock_type::now() - begin < 16s * slowness);
}

TEST_CASE("where a ps task is killed and restarted, all goes on from the newest checkpoint") {
  auto mode = GENERATE(replica_mode::async, replica_mode::bounded, replica_mode::sync);
  INFO(to_string(mode));
  auto which = GENERATE(0, 1);
  INFO("ps task " << which);
  cluster all;
  temporary_folder folder;
  auto how = all.options(mode);
  how.checkpoints = folder / "m";
  how.checkpoint_steps = 10;
  replica_run now{how};
  auto& training = now.start(how, all.s);
  REQUIRE(now.await_step(60));
  REQUIRE(now.await(kind::saved, -1)); // else there is nothing to go on from
  all.ps[static_cast<size_t>(which)]->kill();
  all.start(all.ps, "ps", which);
  REQUIRE(now.await(kind::recovered, -1));
  for (size_t i = 0; i < 3; ++i)
    REQUIRE(now.await_steps_of(i, 50));
  training.request_stop();
  auto report = now.end();
  CHECK(now.count(kind::restored) >= 1);
  CHECK(now.count(kind::initialized) == 1);
  CHECK(report.step > 60);
  CHECK(regression::is_found(all.s, training.chief()));
}

} // namespace troupe::test::replica_processes_test
