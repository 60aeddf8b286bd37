// Replicas that follow the tasks of a cluster as they join and leave.
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
using kind = replica_event::kind;

// A cluster that workers join; one task keeps the variables, and the numbers of the others.
struct joined_cluster {
  std::string seed = concat("127.0.0.1:", free_ports(1)[0]);
  std::unique_ptr<task> ps = start({"ps", 0}, seed);

  std::unique_ptr<task> start(const task_name& self, const std::string& listen) const {
    auto options = options_of_task(*find_cluster("join:" + seed), self);
    options.listen = listen;
    options.peer_timeout = 2s;
    options.member_times = {
        .settle = 100ms, .unreachable_after = 100ms, .gone_after = 2s, .alone_after = 60s};
    return start_task(std::move(options));
  }
  std::unique_ptr<task> worker() const { return start({"worker", -1}, "127.0.0.1:0"); }
  session connect() const {
    return session::connect("join:" + seed, {.cluster = {.peer_timeout = 2s}});
  }
};

replicas_options elastic(replica_mode mode) {
  replicas_options how;
  how.mode = mode;
  how.elastic = true;
  how.make_optimizer = [](edge) { return std::make_unique<gradient_descent>(0.1); };
  how.batch = regression::batch;
  how.retry_seconds = 0.02;
  how.lost_seconds = 0.5;
  return how;
}

// What happens to a run on another thread. It does not come to its end before that is wanted.
class running {
public:
  running(replicas_options how, session& in, int64_t hold_before) {
    how.on_event = [this](const replica_event& what) {
      std::lock_guard guard{mutex_};
      events_[{what.what, what.replica}]++;
    };
    how.on_step = [this](const training_progress& now) {
      std::lock_guard guard{mutex_};
      ++steps_[static_cast<int>(now.replica)];
      step_ = std::max(step_, now.step);
    };
    how.batch = [this, hold_before, batch = how.batch](int64_t n) {
      std::this_thread::sleep_for(held_ ? 20ms : 0ms);
      while (held_ && step() >= hold_before)
        std::this_thread::sleep_for(1ms);
      return batch(n);
    };
    training_.emplace(regression::build, how);
    done_ = std::async(std::launch::async, [&] { return training_->run(in); });
  }
  ~running() { // also after a test that has failed
    held_ = false;
    training_->request_stop();
  }
  replicas& training() { return *training_; }
  replicas_report end() {
    held_ = false;
    return done_.get();
  }
  bool await(kind what, int replica, int times = 1) {
    return soon([&] {
      std::lock_guard guard{mutex_};
      return events_[{what, replica}] >= times;
    });
  }
  bool await_steps_of(int replica, int64_t more = 10) {
    auto before = steps_of(replica);
    return soon([&] { return steps_of(replica) >= before + more; });
  }
  int count(kind what, int replica) {
    std::lock_guard guard{mutex_};
    return events_[{what, replica}];
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

TEST_CASE("a session knows the tasks of its cluster as they join and leave, and asks none") {
  watchdog watch{120s};
  joined_cluster all;
  auto own = all.connect();
  auto worker = all.worker();
  auto hosted = session::connect("master:" + all.seed);
  const std::vector<std::string> both{"/job:ps/task:0", "/job:worker/task:0"};
  CHECK(soon([&] { return own.tasks() == both; }));
  CHECK(soon([&] { return hosted.tasks() == both; }));
  worker = nullptr;
  CHECK(soon([&] { return own.tasks() == std::vector<std::string>{"/job:ps/task:0"}; }));
  CHECK(soon([&] { return hosted.tasks() == std::vector<std::string>{"/job:ps/task:0"}; }));
  CHECK(session::local().tasks() == std::vector<std::string>{"/job:local/task:0"});
}

TEST_CASE("replicas begin with workers that join while they train, and end with those that leave") {
  watchdog watch{120s};
  auto mode = GENERATE(replica_mode::async, replica_mode::bounded, replica_mode::sync);
  INFO(to_string(mode));
  constexpr int64_t last = 2000;
  joined_cluster all;
  auto first = all.worker();
  auto s = all.connect();
  auto how = elastic(mode);
  how.last_step = last;
  running now{how, s, last - 200};
  REQUIRE(now.await_steps_of(0));
  auto second = all.worker(), third = all.worker();
  REQUIRE(third->self() == task_name{"worker", 2});
  REQUIRE(now.await(kind::joined, 1));
  REQUIRE(now.await(kind::joined, 2));
  for (int i = 0; i < 3; ++i)
    REQUIRE(now.await_steps_of(i));
  second = nullptr; // the number in the middle
  REQUIRE(now.await(kind::left, 1));
  auto ended_at = now.steps_of(1);
  REQUIRE(now.await_steps_of(0));
  REQUIRE(now.await_steps_of(2));
  CHECK(now.steps_of(1) <= ended_at + 1);
  auto report = now.end();
  CHECK(report.why == training_end::last_step);
  CHECK(report.step == last);
  REQUIRE(report.replicas.size() == 3);
  for (const auto& one : report.replicas)
    CHECK(one.steps >= 10);
  CHECK(now.count(kind::initialized, -1) == 1);
  auto counted = to_scalar<int64_t>(s.fetch(now.training().global_step()));
  if (mode == replica_mode::sync)
    CHECK(counted == last);
  else
    CHECK(counted >= last); // steps that were under way at the end
  CHECK(regression::is_found(s, now.training().chief()));
}

TEST_CASE("a worker that comes again under a number that was free begins a replica anew") {
  watchdog watch{120s};
  joined_cluster all;
  auto first = all.worker(), second = all.worker();
  auto s = all.connect();
  running now{elastic(replica_mode::bounded), s, 1'000'000};
  REQUIRE(now.await_steps_of(1));
  second = nullptr;
  REQUIRE(now.await(kind::left, 1));
  second = all.worker();
  REQUIRE(second->self() == task_name{"worker", 1});
  REQUIRE(now.await(kind::joined, 1, 2));
  REQUIRE(now.await_steps_of(1));
  now.training().request_stop();
  CHECK(now.end().why == training_end::asked);
}

TEST_CASE("an elastic synchronous step does not wait for a worker that is lost, or gone") {
  watchdog watch{120s};
  joined_cluster all;
  auto first = all.worker(), second = all.worker();
  task_process third{all.seed, {"worker", 2}, concat("127.0.0.1:", free_ports(1)[0])};
  auto s = all.connect();
  auto how = elastic(replica_mode::sync);
  how.workers = 2;
  running now{how, s, 1'000'000};
  for (int i = 0; i < 3; ++i)
    REQUIRE(now.await_steps_of(i));
  third.kill();
  REQUIRE(now.await(kind::lost, 2));
  REQUIRE(now.await_steps_of(0, 50)); // though it may come back
  REQUIRE(now.await_steps_of(1, 50));
  REQUIRE(now.await(kind::left, 2));
  second = nullptr; // fewer than are asked for at least
  REQUIRE(now.await(kind::left, 1));
  std::this_thread::sleep_for(200ms); // what was under way is told
  auto stands_at = now.step();
  std::this_thread::sleep_for(500ms);
  CHECK(now.step() == stands_at);
  second = all.worker();
  REQUIRE(now.await_steps_of(1, 50));
  now.training().request_stop();
  CHECK(now.end().why == training_end::asked);
}

TEST_CASE("replicas without a job of their own cannot follow its tasks") {
  auto how = elastic(replica_mode::async);
  how.ps_tasks = 0;
  CHECK_THROWS_WITH((replicas{regression::build, how}), Catch::Matchers::Contains("elastic needs"));
}

} // namespace troupe::test::elastic_replicas_test
