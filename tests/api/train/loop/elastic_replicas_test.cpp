// Replicas that follow the tasks of a cluster as tasks join and leave.
#include "tests/api/train/loop/regression.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/actors/membership/find_cluster.hpp"

#include <atomic>
#include <future>
#include <mutex>

namespace troupe::test::elastic_replicas_test {
namespace {

using namespace std::chrono_literals;
using kind = replica_event_kind;

// A cluster that workers join; one task holds the variables and assigns the task numbers.
struct joined_cluster {
  std::string seed = concat("127.0.0.1:", free_ports(1)[0]);
  std::unique_ptr<task> ps = start({"ps", 0}, seed);

  std::unique_ptr<task> start(const task_name& self, const std::string& listen) const {
    auto options = options_of_task(*find_cluster("join:" + seed), self);
    options.listen = listen;
    options.peer_timeout = 2s;
    options.member_times = {
        .settle = 100ms, .unreachable_after = 100ms, .gone_after = 2s, .isolated_after = 60s};
    return start_task(std::move(options));
  }
  std::unique_ptr<task> worker() const { return start({"worker", -1}, "127.0.0.1:0"); }
  session connect() const {
    return session::connect("join:" + seed, {.cluster = {.peer_timeout = 2s}});
  }
};

replicas_options elastic(replica_mode mode) {
  replicas_options options;
  options.mode = mode;
  options.elastic = true;
  options.make_optimizer = [](edge) { return std::make_unique<gradient_descent>(0.1); };
  options.batch = regression::batch;
  options.retry_delay_seconds = 0.02;
  options.lost_timeout_seconds = 0.5;
  return options;
}

// A run on another thread, and its events. The run cannot end before the test permits it.
class running {
public:
  running(replicas_options options, session& s, int64_t hold_before) {
    options.on_event = [this](const replica_event& event) {
      std::lock_guard guard{mutex_};
      events_[{event.kind, event.replica}]++;
    };
    options.on_step = [this](const training_progress& now) {
      std::lock_guard guard{mutex_};
      ++steps_[static_cast<int>(now.replica)];
      step_ = std::max(step_, now.step);
    };
    options.batch = [this, hold_before, batch = options.batch](int64_t n) {
      std::this_thread::sleep_for(held_ ? 20ms : 0ms);
      while (held_ && step() >= hold_before)
        std::this_thread::sleep_for(1ms);
      return batch(n);
    };
    training_.emplace(regression::build, options);
    done_ = std::async(std::launch::async, [&] { return training_->run(s); });
  }
  ~running() { // also after a failed test
    held_ = false;
    training_->request_stop();
  }
  replicas& training() { return *training_; }
  replicas_report end() {
    held_ = false;
    return done_.get();
  }
  bool await(kind event_kind, int replica, int times = 1) {
    return becomes_true([&] {
      std::lock_guard guard{mutex_};
      return events_[{event_kind, replica}] >= times;
    });
  }
  bool await_steps_of(int replica, int64_t step_count = 10) {
    auto before = steps_of(replica);
    return becomes_true([&] { return steps_of(replica) >= before + step_count; });
  }
  int count(kind event_kind, int replica) {
    std::lock_guard guard{mutex_};
    return events_[{event_kind, replica}];
  }
  int64_t steps_of(int replica) {
    std::lock_guard guard{mutex_};
    return steps_[replica];
  }
  int64_t step() {
    std::lock_guard guard{mutex_};
    return step_;
  }

private:
  std::optional<replicas> training_;
  std::atomic<bool> held_{true};
  std::mutex mutex_;
  std::map<std::pair<kind, int>, int> events_;
  std::map<int, int64_t> steps_;
  int64_t step_ = 0;
  std::future<replicas_report> done_;
};

} // namespace

TEST_CASE("a session lists the tasks of its cluster as they join and leave, and queries none") {
  watchdog watch{120s};
  joined_cluster joined;
  auto own_session = joined.connect();
  auto worker = joined.worker();
  auto hosted = session::connect("master:" + joined.seed);
  const std::vector<std::string> both_tasks{"/job:ps/task:0", "/job:worker/task:0"};
  CHECK(becomes_true([&] { return own_session.tasks() == both_tasks; }));
  CHECK(becomes_true([&] { return hosted.tasks() == both_tasks; }));
  worker = nullptr;
  CHECK(becomes_true(
      [&] { return own_session.tasks() == std::vector<std::string>{"/job:ps/task:0"}; }));
  CHECK(becomes_true([&] { return hosted.tasks() == std::vector<std::string>{"/job:ps/task:0"}; }));
  CHECK(session::local().tasks() == std::vector<std::string>{"/job:local/task:0"});
}

TEST_CASE("replicas start on workers that join during training, and end with those that leave") {
  watchdog watch{120s};
  auto mode = GENERATE(replica_mode::async, replica_mode::bounded, replica_mode::sync);
  INFO(to_string(mode));
  constexpr int64_t last = 2000;
  joined_cluster joined;
  auto first = joined.worker();
  auto s = joined.connect();
  auto options = elastic(mode);
  options.last_step = last;
  running now{options, s, last - 200};
  REQUIRE(now.await_steps_of(0));
  auto second = joined.worker(), third = joined.worker();
  REQUIRE(third->self() == task_name{"worker", 2});
  REQUIRE(now.await(kind::joined, 1));
  REQUIRE(now.await(kind::joined, 2));
  for (int i = 0; i < 3; ++i)
    REQUIRE(now.await_steps_of(i));
  second = nullptr; // the worker with the middle number
  REQUIRE(now.await(kind::left, 1));
  auto ended_at = now.steps_of(1);
  REQUIRE(now.await_steps_of(0));
  REQUIRE(now.await_steps_of(2));
  CHECK(now.steps_of(1) <= ended_at + 1);
  auto report = now.end();
  CHECK(report.end_reason == training_end::last_step);
  CHECK(report.step == last);
  REQUIRE(report.replicas.size() == 3);
  for (const auto& replica_report : report.replicas)
    CHECK(replica_report.steps >= 10);
  CHECK(now.count(kind::initialized, -1) == 1);
  auto global_step = to_scalar<int64_t>(s.fetch(now.training().global_step()));
  if (mode == replica_mode::sync)
    CHECK(global_step == last);
  // Steps that were under way at the end.
  else
    CHECK(global_step >= last);
  CHECK(regression::is_found(s, now.training().chief()));
}

TEST_CASE("a worker that joins under a free number starts a new replica") {
  watchdog watch{120s};
  joined_cluster joined;
  auto first = joined.worker(), second = joined.worker();
  auto s = joined.connect();
  running now{elastic(replica_mode::bounded), s, 1'000'000};
  REQUIRE(now.await_steps_of(1));
  second = nullptr;
  REQUIRE(now.await(kind::left, 1));
  second = joined.worker();
  REQUIRE(second->self() == task_name{"worker", 1});
  REQUIRE(now.await(kind::joined, 1, 2));
  REQUIRE(now.await_steps_of(1));
  now.training().request_stop();
  CHECK(now.end().end_reason == training_end::stop_requested);
}

TEST_CASE("an elastic synchronous step does not wait for a worker that is lost, or gone") {
  watchdog watch{120s};
  joined_cluster joined;
  auto first = joined.worker(), second = joined.worker();
  task_process third{joined.seed, {"worker", 2}, concat("127.0.0.1:", free_ports(1)[0])};
  auto s = joined.connect();
  auto options = elastic(replica_mode::sync);
  options.workers = 2;
  running now{options, s, 1'000'000};
  for (int i = 0; i < 3; ++i)
    REQUIRE(now.await_steps_of(i));
  third.kill();
  REQUIRE(now.await(kind::lost, 2));
  REQUIRE(now.await_steps_of(0, 50)); // though the worker may return
  REQUIRE(now.await_steps_of(1, 50));
  REQUIRE(now.await(kind::left, 2));
  second = nullptr; // fewer workers than the required minimum
  REQUIRE(now.await(kind::left, 1));
  std::this_thread::sleep_for(200ms); // until the steps under way are reported
  auto stands_at = now.step();
  std::this_thread::sleep_for(500ms);
  CHECK(now.step() == stands_at);
  second = joined.worker();
  REQUIRE(now.await_steps_of(1, 50));
  now.training().request_stop();
  CHECK(now.end().end_reason == training_end::stop_requested);
}

TEST_CASE("replicas without a job of their own cannot follow its tasks") {
  auto options = elastic(replica_mode::async);
  options.ps_tasks = 0;
  CHECK_THROWS_WITH((replicas{regression::build, options}),
                    Catch::Matchers::Contains("elastic needs"));
}

} // namespace troupe::test::elastic_replicas_test
