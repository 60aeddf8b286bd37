// Runs that their caller stops: run_options::stop.
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/thrown_errors.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/api/internal/recovery.hpp"
#include "troupe/troupe.hpp"

#include <atomic>
#include <future>
#include <thread>

namespace troupe::test::stopped_runs_test {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;

namespace {

// The outcome of a run that is stopped while it waits or computes.
template <class Run>
status stopped(Run run) {
  std::stop_source stop;
  auto outcome = std::async(std::launch::async, [&] {
    return status_thrown_by([&] { run(run_options{.timeout = 60s, .stop = stop.get_token()}); });
  });
  CHECK(outcome.wait_for(100ms) == std::future_status::timeout);
  stop.request_stop();
  return outcome.get();
}

void check_stopped(const status& outcome) {
  CHECK(outcome.kind() == error_kind::cancelled);
  CHECK_THAT(outcome.message(), Contains("the caller stopped the run"));
}

struct queue_graph {
  explicit queue_graph(const std::string& device = {}) {
    auto placement = g.on(device);
    queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}, .shared_name = "rows"});
    put = queue_enqueue(queue, {x});
    taken = queue_dequeue(queue, {dtype::i32}, "take")[0];
  }
  graph_builder g;
  edge x = g.placeholder(dtype::i32, shape{}, "x");
  edge queue, taken;
  node* put = nullptr;
};

// A stopped dequeue takes no element: the next dequeue gets the next element.
void check_queue(session& s, queue_graph& queues) {
  auto take = s.prepare({}, {queues.taken});
  auto put_step = s.prepare({queues.x}, {}, {queues.put});
  for (int i = 0; i < 3; ++i) {
    check_stopped(stopped([&](const run_options& options) { take.run({}, options); }));
    check_stopped(stopped([&](const run_options& options) { s.fetch(queues.taken, {}, options); }));
    check_stopped(stopped([&](const run_options& options) { take.run_async({}, options).get(); }));
    put_step.run({tensor::scalar(i)});
    CHECK(to_scalar<int>(take.run().front()) == i);
  }
}

} // namespace

TEST_CASE("a local run that waits is stopped, and takes no element") {
  watchdog watch;
  queue_graph queues;
  auto s = session::local();
  check_queue(s, queues);
}

TEST_CASE("a loop without an end is stopped") {
  watchdog watch;
  graph_builder g;
  auto iterations = while_loop(
      {g.constant(0)}, [&](auto& v) { return greater_equal(v[0], 0); },
      [&](auto& v) -> std::vector<edge> { return {v[0] * 0 + 1}; });
  auto s = session::local();
  auto endless = s.prepare({}, {iterations[0]});
  for (int i = 0; i < 3; ++i)
    check_stopped(stopped([&](const run_options& options) { endless.run({}, options); }));
}

TEST_CASE("a run is stopped by the callback of another") {
  watchdog watch;
  queue_graph queues;
  auto s = session::local();
  auto take = s.prepare({}, {queues.taken});
  auto size = s.prepare({}, {queue_size(queues.queue)});
  std::stop_source stop;
  auto waiting_run = take.run_async({}, {.timeout = 60s, .stop = stop.get_token()});
  size.run_async({}, [&](const result<std::vector<tensor>>&) { stop.request_stop(); });
  check_stopped(status_thrown_by([&] { waiting_run.get(); }));
}

TEST_CASE("a long product is stopped") {
  watchdog watch;
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1, -1}, "x");
  auto y = x;
  for (int i = 0; i < 200; ++i) // many seconds of work
    y = matmul(y, x);
  auto s = session::local();
  auto step = s.prepare({x}, {y});
  auto ones_matrix = tensor::from_values({2000, 2000}, std::vector<float>(4'000'000, 1e-4f));
  check_stopped(stopped([&](const run_options& options) { step.run({ones_matrix}, options); }));
}

TEST_CASE(
    "a run that was stopped before its begin does nothing, and a run that has ended stays ended") {
  watchdog watch;
  graph_builder g;
  auto count = g.variable(0, "count");
  auto* add_node = assign_add(count, 1).node;
  auto s = session::local();
  s.run(g.initializer());
  std::stop_source stop;
  run_options options{.stop = stop.get_token()};
  s.run(add_node, {}, options);
  stop.request_stop();
  check_stopped(status_thrown_by([&] { s.run(add_node, {}, options); }));
  auto step = s.prepare({}, {}, {add_node});
  check_stopped(status_thrown_by([&] { step.run({}, options); }));
  check_stopped(status_thrown_by([&] { step.run_async({}, options).get(); }));
  CHECK(to_scalar<int>(s.fetch(count)) == 1);
}

TEST_CASE("a run that waits for admission is stopped, and the next run is admitted") {
  watchdog watch;
  queue_graph queues;
  auto s = session::local({.max_concurrent_steps = 1});
  auto take = s.prepare({}, {queues.taken});
  auto first = std::async(std::launch::async, [&] { return to_scalar<int>(take.run().front()); });
  while (s.state_of().entries.empty())
    std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(20ms);
  check_stopped(stopped([&](const run_options& options) { take.run({}, options); }));
  check_stopped(stopped([&](const run_options& options) { take.run_async({}, options).get(); }));
  auto third = take.run_async();
  s.run(queues.put, {{queues.x, 1}});
  s.run(queues.put, {{queues.x, 2}});
  CHECK(first.get() + to_scalar<int>(third.get().front()) == 3);
}

TEST_CASE("many threads stop steps repeatedly while other steps run") {
  watchdog watch;
  queue_graph queues;
  auto s = session::local();
  auto take = s.prepare({}, {queues.taken});
  auto put_step = s.prepare({queues.x}, {}, {queues.put});
  std::atomic<int> stopped_ones{0}, wrong{0};
  std::atomic<int64_t> sum{0};
  {
    std::vector<std::jthread> stopping_threads;
    for (int t = 0; t < 4; ++t)
      stopping_threads.emplace_back([&, t] {
        for (int i = 0; i < 500; ++i) {
          std::stop_source stop;
          std::jthread stopper{[&stop, i] {
            std::this_thread::sleep_for(std::chrono::microseconds{i % 7 * 20});
            stop.request_stop();
          }};
          try {
            sum += to_scalar<int>(take.run({}, {.timeout = 60s, .stop = stop.get_token()}).front());
          } catch (const error& e) {
            (e.kind() == error_kind::cancelled ? stopped_ones : wrong)++;
          }
          put_step.run({tensor::scalar(t * 1000 + i)});
        }
      });
  }
  CHECK(wrong == 0);
  CHECK(stopped_ones > 0);
  // The elements that no stopped run has taken are still in the queue.
  auto size = s.prepare({}, {queue_size(queues.queue)});
  for (auto elements_left = to_scalar<int>(size.run().front()); elements_left > 0; --elements_left)
    sum += to_scalar<int>(take.run().front());
  CHECK(sum == 500 * (0 + 1000 + 2000 + 3000) + 4 * (499 * 500 / 2));
}

TEST_CASE("a step over several tasks that waits is stopped, and takes no element") {
  watchdog watch;
  auto cluster = make_cluster(1, 1);
  auto worker = start_task(cluster, {"worker", 0}), ps = start_task(cluster, {"ps", 0});
  queue_graph queues{"/job:ps/task:0"};
  auto placement = queues.g.on("/job:worker/task:0");
  queues.taken = queues.taken + 0; // is sent to the other task
  auto s = session::connect(cluster, {.passes = pass_options::none()});
  check_queue(s, queues);
}

TEST_CASE("a run that waits for a task which does not run is stopped") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto worker = start_task(cluster, {"worker", 0});
  queue_graph queues{"/job:worker/task:0"};
  auto s = session::connect(cluster);
  auto size = s.prepare({}, {queue_size(queues.queue)});
  CHECK(to_scalar<int>(size.run().front()) == 0);
  worker.reset();
  // From here on the task is known to be lost.
  (void)status_thrown_by([&] { size.run({}, {.timeout = 100ms}); });
  check_stopped(stopped([&](const run_options& options) { size.run({}, options); }));
  check_stopped(stopped([&](const run_options& options) { size.run_async({}, options).get(); }));
  // The same for a step that was not prepared before.
  check_stopped(stopped([&](const run_options& options) { s.fetch(queues.taken, {}, options); }));
}

TEST_CASE("a step of a session that a task hosts is stopped, and takes no element") {
  watchdog watch;
  auto cluster = make_cluster(1, 1);
  auto worker = start_task(cluster, {"worker", 0}), ps = start_task(cluster, {"ps", 0});
  queue_graph queues{"/job:ps/task:0"};
  auto s = session::connect(concat("master:", cluster.jobs.at("worker")[0]));
  check_queue(s, queues);
  // The preparation, and the wait for the host.
  ps.reset();
  graph_builder other_graph;
  auto placement = other_graph.on("/job:ps/task:0");
  auto size_edge = queue_size(fifo_queue(other_graph, {dtype::i32}, {.shapes = {{}}}));
  check_stopped(stopped([&](const run_options& options) { s.fetch(size_edge, {}, options); }));
  worker.reset();
  check_stopped(stopped([&](const run_options& options) { s.fetch(size_edge, {}, options); }));
}

TEST_CASE("a run that waits for its retry is stopped, and its error names the stop") {
  recovery policy{{.max_retries = 5, .initial_delay = 60s}};
  std::stop_source stop;
  auto outcome = std::async(std::launch::async, [&] {
    return policy.run(
        false, step_clock::now() + 1h, stop.get_token(),
        [] { return failure(error_kind::unavailable, "the moon is away"); }, [] {});
  });
  CHECK(outcome.wait_for(50ms) == std::future_status::timeout);
  stop.request_stop();
  auto reason = outcome.get();
  check_stopped(reason);
  CHECK_THAT(reason.message(), Contains("the moon is away"));
}

TEST_CASE("a stopped run restores nothing") {
  auto restored = false;
  recovery policy{{.restore_state = [](session&) {}}};
  CHECK(policy.add_lost_task("/job:ps/task:0"));
  std::stop_source stop;
  stop.request_stop();
  check_stopped(policy.run(
      false, step_clock::now() + 1h, stop.get_token(), [] { return status{}; },
      [&] { restored = true; }));
  CHECK(!restored);
}

TEST_CASE("a run that waits for another run's restore is stopped") {
  std::promise<void> restored;
  recovery policy{{.restore_state = [](session&) {}}};
  CHECK(policy.add_lost_task("/job:ps/task:0"));
  auto first = std::async(std::launch::async, [&] {
    return policy.run(
        false, step_clock::now() + 1h, {}, [] { return status{}; },
        [&] { restored.get_future().wait(); });
  });
  while (!policy.awaits_restore("/job:ps/task:0"))
    std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(20ms);
  std::stop_source stop;
  auto second = std::async(std::launch::async, [&] {
    return policy.run(
        false, step_clock::now() + 1h, stop.get_token(), [] { return status{}; }, [] {});
  });
  CHECK(second.wait_for(50ms) == std::future_status::timeout);
  stop.request_stop();
  check_stopped(second.get());
  restored.set_value();
  CHECK(first.get());
}

} // namespace troupe::test::stopped_runs_test
