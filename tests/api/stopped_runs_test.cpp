// Runs that their caller stops: run_options::stop.
#include "tests/support/catch.hpp"
#include "tests/support/failure_of.hpp"
#include "tests/support/processes.hpp"
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

// What becomes of a run that is stopped once it waits, or does whatever it does for long.
template <class Run>
status stopped(Run run) {
  std::stop_source stop;
  auto outcome = std::async(std::launch::async, [&] {
    return thrown_by([&] { run(run_options{.timeout = 60s, .stop = stop.get_token()}); });
  });
  CHECK(outcome.wait_for(100ms) == std::future_status::timeout);
  stop.request_stop();
  return outcome.get();
}

void check_stopped(const status& what) {
  CHECK(what.kind() == error_kind::cancelled);
  CHECK_THAT(what.message(), Contains("the caller stopped the run"));
}

struct queue_graph {
  explicit queue_graph(const std::string& device = {}) {
    auto on = g.on(device);
    queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}, .shared_name = "rows"});
    put = queue_enqueue(queue, {x});
    taken = queue_dequeue(queue, {dtype::i32}, "take")[0];
  }
  graph_builder g;
  edge x = g.placeholder(dtype::i32, shape{}, "x");
  edge queue, taken;
  node* put = nullptr;
};

// A take that was stopped takes nothing: the next one gets what is put then.
void check_queue(session& s, queue_graph& in) {
  auto take = s.prepare({}, {in.taken});
  auto put = s.prepare({in.x}, {}, {in.put});
  for (int i = 0; i < 3; ++i) {
    check_stopped(stopped([&](const run_options& how) { take.run({}, how); }));
    check_stopped(stopped([&](const run_options& how) { s.fetch(in.taken, {}, how); }));
    check_stopped(stopped([&](const run_options& how) { take.run_async({}, how).get(); }));
    put.run({tensor::scalar(i)});
    CHECK(to_scalar<int>(take.run().front()) == i);
  }
}

} // namespace

TEST_CASE("a local run that waits is stopped, and takes nothing") {
  watchdog watch;
  queue_graph in;
  auto s = session::local();
  check_queue(s, in);
}

TEST_CASE("a loop without an end is stopped") {
  watchdog watch;
  graph_builder g;
  auto turns = while_loop(
      {g.constant(0)}, [&](auto& v) { return greater_equal(v[0], 0); },
      [&](auto& v) -> std::vector<edge> { return {v[0] * 0 + 1}; });
  auto s = session::local();
  auto endless = s.prepare({}, {turns[0]});
  for (int i = 0; i < 3; ++i)
    check_stopped(stopped([&](const run_options& how) { endless.run({}, how); }));
}

TEST_CASE("a run is stopped by the callback of another") {
  watchdog watch;
  queue_graph in;
  auto s = session::local();
  auto take = s.prepare({}, {in.taken});
  auto size = s.prepare({}, {queue_size(in.queue)});
  std::stop_source stop;
  auto waits = take.run_async({}, {.timeout = 60s, .stop = stop.get_token()});
  size.run_async({}, [&](const result<std::vector<tensor>>&) { stop.request_stop(); });
  check_stopped(thrown_by([&] { waits.get(); }));
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
  auto ones = tensor::of({2000, 2000}, std::vector<float>(4'000'000, 1e-4f));
  check_stopped(stopped([&](const run_options& how) { step.run({ones}, how); }));
}

TEST_CASE("a run that was stopped before it begins does nothing, and one that has ended ended") {
  watchdog watch;
  graph_builder g;
  auto count = g.variable(0, "count");
  auto* more = assign_add(count, 1).node;
  auto s = session::local();
  s.run(g.initializer());
  std::stop_source stop;
  run_options how{.stop = stop.get_token()};
  s.run(more, {}, how);
  stop.request_stop();
  check_stopped(thrown_by([&] { s.run(more, {}, how); }));
  auto step = s.prepare({}, {}, {more});
  check_stopped(thrown_by([&] { step.run({}, how); }));
  check_stopped(thrown_by([&] { step.run_async({}, how).get(); }));
  CHECK(to_scalar<int>(s.fetch(count)) == 1);
}

TEST_CASE("a run that waits for its turn is stopped, and its turn goes to the next") {
  watchdog watch;
  queue_graph in;
  auto s = session::local({.max_concurrent_steps = 1});
  auto take = s.prepare({}, {in.taken});
  auto first = std::async(std::launch::async, [&] { return to_scalar<int>(take.run().front()); });
  while (s.state_of().entries.empty())
    std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(20ms);
  check_stopped(stopped([&](const run_options& how) { take.run({}, how); }));
  check_stopped(stopped([&](const run_options& how) { take.run_async({}, how).get(); }));
  auto third = take.run_async();
  s.run(in.put, {{in.x, 1}});
  s.run(in.put, {{in.x, 2}});
  CHECK(first.get() + to_scalar<int>(third.get().front()) == 3);
}

TEST_CASE("steps are stopped again and again by many threads while others run on") {
  watchdog watch;
  queue_graph in;
  auto s = session::local();
  auto take = s.prepare({}, {in.taken});
  auto put = s.prepare({in.x}, {}, {in.put});
  std::atomic<int> stopped_ones{0}, wrong{0};
  std::atomic<int64_t> sum{0};
  {
    std::vector<std::jthread> all;
    for (int t = 0; t < 4; ++t)
      all.emplace_back([&, t] {
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
          put.run({tensor::scalar(t * 1000 + i)});
        }
      });
  }
  CHECK(wrong == 0);
  CHECK(stopped_ones > 0);
  // What none of them took is still there.
  auto size = s.prepare({}, {queue_size(in.queue)});
  for (auto left = to_scalar<int>(size.run().front()); left > 0; --left)
    sum += to_scalar<int>(take.run().front());
  CHECK(sum == 500 * (0 + 1000 + 2000 + 3000) + 4 * (499 * 500 / 2));
}

TEST_CASE("a step over several tasks that waits is stopped, and takes nothing") {
  watchdog watch;
  auto cluster = make_cluster(1, 1);
  auto worker = start_task(cluster, {"worker", 0}), ps = start_task(cluster, {"ps", 0});
  queue_graph in{"/job:ps/task:0"};
  auto on = in.g.on("/job:worker/task:0");
  in.taken = in.taken + 0; // travels
  auto s = session::connect(cluster, {.passes = pass_options::none()});
  check_queue(s, in);
}

TEST_CASE("a run that waits for a task which is not there is stopped") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto worker = start_task(cluster, {"worker", 0});
  queue_graph in{"/job:worker/task:0"};
  auto s = session::connect(cluster);
  auto size = s.prepare({}, {queue_size(in.queue)});
  CHECK(to_scalar<int>(size.run().front()) == 0);
  worker.reset();
  (void)thrown_by([&] { size.run({}, {.timeout = 100ms}); }); // from here on it is known to be lost
  check_stopped(stopped([&](const run_options& how) { size.run({}, how); }));
  check_stopped(stopped([&](const run_options& how) { size.run_async({}, how).get(); }));
  // The same where the step was not prepared before.
  check_stopped(stopped([&](const run_options& how) { s.fetch(in.taken, {}, how); }));
}

TEST_CASE("a step of a session that a task hosts is stopped, and takes nothing") {
  watchdog watch;
  auto cluster = make_cluster(1, 1);
  auto worker = start_task(cluster, {"worker", 0}), ps = start_task(cluster, {"ps", 0});
  queue_graph in{"/job:ps/task:0"};
  auto s = session::connect(concat("master:", cluster.jobs.at("worker")[0]));
  check_queue(s, in);
  // What it prepares, and what waits for the host.
  ps.reset();
  graph_builder other;
  auto on = other.on("/job:ps/task:0");
  auto found = queue_size(fifo_queue(other, {dtype::i32}, {.shapes = {{}}}));
  check_stopped(stopped([&](const run_options& how) { s.fetch(found, {}, how); }));
  worker.reset();
  check_stopped(stopped([&](const run_options& how) { s.fetch(found, {}, how); }));
}

TEST_CASE("a run that waits to be tried again is stopped, and says why it was") {
  recovery of{{.retries = 5, .wait = 60s}};
  std::stop_source stop;
  auto outcome = std::async(std::launch::async, [&] {
    return of.run(
        false, step_clock::now() + 1h, stop.get_token(),
        [] { return failure(error_kind::unavailable, "the moon is away"); }, [] {});
  });
  CHECK(outcome.wait_for(50ms) == std::future_status::timeout);
  stop.request_stop();
  auto why = outcome.get();
  check_stopped(why);
  CHECK_THAT(why.message(), Contains("the moon is away"));
}

TEST_CASE("a run that was stopped restores nothing") {
  auto restored = false;
  recovery of{{.restore = [](session&) {}}};
  CHECK(of.lose("/job:ps/task:0"));
  std::stop_source stop;
  stop.request_stop();
  check_stopped(of.run(
      false, step_clock::now() + 1h, stop.get_token(), [] { return status{}; },
      [&] { restored = true; }));
  CHECK(!restored);
}

TEST_CASE("a run that waits for what others restore is stopped") {
  std::promise<void> restored;
  recovery of{{.restore = [](session&) {}}};
  CHECK(of.lose("/job:ps/task:0"));
  auto first = std::async(std::launch::async, [&] {
    return of.run(
        false, step_clock::now() + 1h, {}, [] { return status{}; },
        [&] { restored.get_future().wait(); });
  });
  while (!of.awaits("/job:ps/task:0"))
    std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(20ms);
  std::stop_source stop;
  auto second = std::async(std::launch::async, [&] {
    return of.run(
        false, step_clock::now() + 1h, stop.get_token(), [] { return status{}; }, [] {});
  });
  CHECK(second.wait_for(50ms) == std::future_status::timeout);
  stop.request_stop();
  check_stopped(second.get());
  restored.set_value();
  CHECK(first.get());
}

} // namespace troupe::test::stopped_runs_test
