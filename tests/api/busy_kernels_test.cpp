// Sessions whose kernel threads all compute for a long time.
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/thrown_errors.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/troupe.hpp"

#include <atomic>
#include <future>
#include <optional>
#include <thread>

namespace troupe::test::busy_kernels_test {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

namespace {

// The promise is 50 ms; without it, the time would be the deadline of the computing steps.
const auto prompt_limit = 1s * timeout_scale * timeout_factor();
constexpr auto deadline_of_others = 60s;

enum class where { local, worker, hosted };
enum class body { product, counter };

clock::duration time_of(auto&& body) {
  auto begin = clock::now();
  body();
  return clock::now() - begin;
}

status outcome_of(std::future<std::vector<tensor>>& run) {
  return status_thrown_by([&] { run.get(); });
}

// Eight steps that would compute for hours, on two threads.
class busy_session {
public:
  explicit busy_session(where placement, body loop_body = body::product) {
    auto matrix = tensor::from_values<float>({64, 64}, std::vector<float>(64 * 64, 0.01f));
    auto is_running = [&](auto& v) { return less(v[0], iterations); };
    auto loop =
        loop_body == body::product
            ? while_loop({g.constant(int64_t{0}), g.constant(matrix)}, is_running,
                         [](auto& v) {
                           return std::vector<edge>{v[0] + int64_t{1}, tanh(matmul(v[1], v[1]))};
                         })[0]
            : while_loop({g.constant(int64_t{0})}, is_running,
                         [](auto& v) { return std::vector<edge>{v[0] + int64_t{1}}; })[0];
    if (placement == where::local) {
      s.emplace(session::local({.threads = {.intra_op = 1, .inter_op = 2}}));
    } else {
      cluster = make_cluster(1, 0);
      auto options = options_of_task(cluster, {"worker", 0});
      options.inter_op_threads = 2;
      worker = start_task(std::move(options));
      auto address = cluster.jobs.at("worker").front();
      s.emplace(placement == where::worker ? session::connect(cluster)
                                           : session::connect(concat("master:", address)));
    }
    endless.emplace(s->prepare({iterations}, {loop}));
    quick.emplace(s->prepare({x}, {x * 2}));
    quick->run({input_value});
    for (int i = 0; i < 8; ++i)
      busy.push_back(compute({.timeout = deadline_of_others, .stop = stop.get_token()}));
    std::this_thread::sleep_for(100ms);
  }
  ~busy_session() { stop.request_stop(); }

  std::future<std::vector<tensor>> compute(const run_options& options) {
    return endless->run_async({tensor::scalar(int64_t{1} << 60)}, options);
  }
  /// A step that is expected to be quick, because the sizes of its matrix are unknown.
  step prepare_products() {
    auto matrix = g.placeholder(dtype::f32, {-1, -1}, "matrix");
    auto product = matrix;
    for (int i = 0; i < 300; ++i)
      product = matmul(product, matrix);
    return s->prepare({matrix}, {product});
  }

  graph_builder g;
  edge iterations = g.placeholder(dtype::i64, shape{}, "turns");
  edge x = g.placeholder(dtype::f32, {-1}, "x");
  tensor input_value = tensor::vector<float>({1});
  cluster_spec cluster;
  std::unique_ptr<task> worker;
  std::stop_source stop;
  std::optional<session> s;
  std::optional<step> endless, quick;
  std::vector<std::future<std::vector<tensor>>> busy;
};

template <class Act>
void in_each(Act action) {
  for (auto placement : {where::local, where::worker, where::hosted})
    for (auto loop_body : {body::product, body::counter}) {
      INFO("session " << static_cast<int>(placement) << ", body " << static_cast<int>(loop_body));
      busy_session fixture{placement, loop_body};
      action(fixture);
    }
}

} // namespace

TEST_CASE("a stop token ends computing steps, and the steps queued behind them, at once") {
  watchdog watch;
  in_each([](busy_session& fixture) {
    CHECK(time_of([&] {
            fixture.stop.request_stop();
            for (auto& run : fixture.busy)
              CHECK(outcome_of(run).kind() == error_kind::cancelled);
          }) < prompt_limit);
  });
}

TEST_CASE("a stop token ends one queued step while others compute") {
  watchdog watch;
  in_each([](busy_session& fixture) {
    std::stop_source stop;
    auto last = fixture.compute({.timeout = deadline_of_others, .stop = stop.get_token()});
    std::this_thread::sleep_for(20ms);
    CHECK(time_of([&] {
            stop.request_stop();
            CHECK(outcome_of(last).kind() == error_kind::cancelled);
          }) < prompt_limit);
  });
}

TEST_CASE("a session closes within two seconds while steps compute") {
  watchdog watch;
  in_each([](busy_session& fixture) {
    CHECK(time_of([&] { fixture.s.reset(); }) < 2s * timeout_scale);
    for (auto& run : fixture.busy)
      CHECK(outcome_of(run).kind() == error_kind::cancelled);
  });
}

TEST_CASE("short steps run while others occupy all threads") {
  watchdog watch;
  in_each([](busy_session& fixture) {
    for (int i = 0; i < 5; ++i) {
      std::future<std::vector<tensor>> run;
      CHECK(time_of([&] {
              run = fixture.quick->run_async({fixture.input_value}, {.timeout = 10s});
              CHECK(outcome_of(run).ok());
            }) < prompt_limit);
    }
    std::atomic<int> callback_result{0};
    fixture.quick->run_async(
        {fixture.input_value},
        [&](const result<std::vector<tensor>>& got) { callback_result = got.ok() ? 1 : -1; },
        {.timeout = 10s});
    for (auto end_time = clock::now() + prompt_limit;
         callback_result == 0 && clock::now() < end_time;)
      std::this_thread::sleep_for(1ms);
    CHECK(callback_result == 1);
    CHECK(time_of([&] { fixture.quick->run({fixture.input_value}); }) < prompt_limit);
  });
}

TEST_CASE("new steps are compiled, and state is listed, while others occupy all threads") {
  watchdog watch;
  in_each([](busy_session& fixture) {
    CHECK(time_of([&] {
            auto tripled = fixture.s->fetch(fixture.x * 3, {{fixture.x, fixture.input_value}},
                                            {.timeout = 10s});
            CHECK(tripled.data<float>()[0] == 3);
          }) < prompt_limit);
    CHECK(time_of([&] {
            CHECK(fixture.s->devices().size() == 1);
            fixture.s->state_of();
            fixture.s->reset();
          }) < prompt_limit);
  });
}

TEST_CASE("steps queued behind computing steps end at their own deadlines") {
  watchdog watch;
  in_each([](busy_session& fixture) {
    std::vector<std::future<std::vector<tensor>>> late_runs;
    CHECK(time_of([&] {
            for (int i = 0; i < 4; ++i)
              late_runs.push_back(fixture.compute({.timeout = 200ms}));
            for (auto& late_run : late_runs)
              CHECK(outcome_of(late_run).kind() == error_kind::deadline_exceeded);
          }) < 200ms + prompt_limit);
  });
}

TEST_CASE("a step whose queue is filled continues while others occupy all threads") {
  watchdog watch;
  busy_session fixture{where::local};
  auto& g = fixture.g;
  auto queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}});
  auto fed = g.placeholder(dtype::i32, shape{});
  auto put_step = fixture.s->prepare({fed}, {}, {queue_enqueue(queue, {fed})});
  auto take = fixture.s->prepare({}, {queue_dequeue(queue, {dtype::i32})[0] + 1});
  auto pending_take = take.run_async({}, {.timeout = 30s});
  auto blocking_take =
      std::async(std::launch::async, [&] { return take.run({}, {.timeout = 30s}); });
  std::this_thread::sleep_for(50ms);
  CHECK(time_of([&] {
          put_step.run({tensor::scalar(1)});
          put_step.run({tensor::scalar(1)});
          CHECK(to_scalar<int>(pending_take.get().front()) == 2);
          CHECK(to_scalar<int>(blocking_take.get().front()) == 2);
        }) < prompt_limit);
}

TEST_CASE(
    "a thread that waits for its step runs branches for which the other threads have no time") {
  watchdog watch;
  busy_session fixture{where::local};
  auto& g = fixture.g;
  auto m = g.placeholder(dtype::f32, {300, 300}, "m");
  auto left_branch = m, right_branch = m;
  for (int i = 0; i < 4; ++i) {
    left_branch = matmul(left_branch, m);
    right_branch = matmul(m, right_branch) + 1;
  }
  auto branches = fixture.s->prepare({m}, {sum(left_branch) + sum(right_branch)});
  auto value = tensor::from_values<float>({300, 300}, std::vector<float>(90'000, 0.01f));
  CHECK(time_of([&] { branches.run({value}, {.timeout = 30s}); }) < 10 * prompt_limit);
}

TEST_CASE("a callback that takes long delays neither deadlines nor other runs") {
  watchdog watch;
  busy_session fixture{where::local};
  std::promise<void> entered, released;
  fixture.quick->run_async({fixture.input_value}, [&](const auto&) {
    entered.set_value();
    released.get_future().wait();
  });
  REQUIRE(entered.get_future().wait_for(10s) == std::future_status::ready);
  CHECK(time_of([&] {
          CHECK(fixture.s->fetch(fixture.x * 5, {{fixture.x, fixture.input_value}})
                    .data<float>()[0] == 5);
          fixture.quick->run({fixture.input_value});
        }) < prompt_limit);
  released.set_value();
}

TEST_CASE("a step whose compilation is delayed by another step ends at its own deadline") {
  watchdog watch;
  graph_builder g;
  edge long_chain = g.placeholder(dtype::f32, {-1}, "x");
  auto x = long_chain;
  for (int i = 0; i < 20'000; ++i)
    long_chain = long_chain + x;
  std::vector<edge> other_edges; // the graph must not change while it is compiled
  for (int i = 0; i < 200; ++i)
    other_edges.push_back(x * 3);
  auto s = session::local({.passes = pass_options::none()});
  std::atomic<bool> compiled{false};
  auto compiling = std::async(std::launch::async, [&] {
    s.prepare({x}, {long_chain});
    compiled = true;
  });
  auto input = tensor::vector<float>({1});
  for (size_t i = 0; !compiled; ++i) { // fetches of other steps, before, after and beside it
    status outcome;
    CHECK(time_of([&] {
            outcome = status_thrown_by([&] {
              s.fetch(other_edges[i % other_edges.size()], {{x, input}}, {.timeout = 10ms});
            });
          }) < prompt_limit);
    CHECK((outcome.ok() || outcome.kind() == error_kind::deadline_exceeded));
  }
  compiling.get();
}

TEST_CASE("run_async returns at once, however long the computation of its feeds takes") {
  watchdog watch;
  graph_builder g;
  auto dims = g.placeholder(dtype::i32, {2}, "dims");
  auto m = fill(g, dims, g.constant(0.01f));
  auto y = m;
  for (int i = 0; i < 5; ++i)
    y = matmul(y, m);
  auto s = session::local({.threads = {.intra_op = 1, .inter_op = 2}});
  auto products = s.prepare({dims}, {sum(y)});
  std::stop_source stop;
  auto run = [&](int n) {
    return products.run_async({tensor::vector<int32_t>({n, n})}, {.stop = stop.get_token()});
  };
  for (int i = 0; i < 50; ++i)
    run(1).get();
  std::future<std::vector<tensor>> large;
  CHECK(time_of([&] { large = run(4000); }) < 100ms * timeout_scale);
  stop.request_stop();
  (void)outcome_of(large);
}

TEST_CASE("a step that another step ends during a long region ends, and so does its session") {
  watchdog watch;
  graph_builder g;
  auto queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}});
  auto dequeued = queue_dequeue(queue, {dtype::i32})[0];
  auto* closes = queue_close(queue); // issued before the products
  auto x = g.placeholder(dtype::f32, {-1, -1}, "x");
  auto y = x;
  for (int i = 0; i < 200; ++i)
    y = matmul(y, x);
  std::optional<session> s{session::local({.threads = {.intra_op = 1, .inter_op = 2}})};
  auto take = s->prepare({}, {dequeued});
  auto both_steps = s->prepare({x}, {y}, {closes});
  auto pending_take = take.run_async();
  std::this_thread::sleep_for(50ms);
  auto large_matrix =
      tensor::from_values<float>({1500, 1500}, std::vector<float>(1500 * 1500, 1e-4f));
  auto computes = both_steps.run_async({large_matrix});
  CHECK(pending_take.wait_for(prompt_limit) == std::future_status::ready);
  CHECK(time_of([&] { s.reset(); }) < 2s * timeout_scale);
  CHECK(outcome_of(computes).kind() == error_kind::cancelled);
}

TEST_CASE("a queued step is stopped while short regions take longer than usual") {
  watchdog watch;
  busy_session fixture{where::local};
  auto slow = fixture.prepare_products();
  auto large_matrix =
      tensor::from_values<float>({1000, 1000}, std::vector<float>(1000 * 1000, 1e-4f));
  auto count = GENERATE(1, 4, 8);
  std::stop_source stop;
  auto last = fixture.compute({.timeout = deadline_of_others, .stop = stop.get_token()});
  std::vector<std::future<std::vector<tensor>>> runs;
  for (int i = 0; i < count; ++i)
    runs.push_back(slow.run_async({large_matrix}, {.stop = fixture.stop.get_token()}));
  std::this_thread::sleep_for(100ms);
  CHECK(time_of([&] {
          stop.request_stop();
          CHECK(outcome_of(last).kind() == error_kind::cancelled);
        }) < prompt_limit);
  CHECK(time_of([&] {
          fixture.stop.request_stop();
          for (auto& run : runs)
            CHECK(outcome_of(run).kind() == error_kind::cancelled);
        }) < prompt_limit);
}

TEST_CASE("a step in a long queue that advances is stopped") {
  watchdog watch;
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {350, 350}, "x");
  auto y = matmul(x, x);
  auto s = session::local({.threads = {.intra_op = 1, .inter_op = 1}});
  auto product = s.prepare({x}, {y});
  auto value = tensor::from_values<float>({350, 350}, std::vector<float>(350 * 350, 0.01f));
  std::stop_source stop_others, stop;
  std::vector<std::future<std::vector<tensor>>> runs;
  for (int i = 0; i < 1'500; ++i)
    runs.push_back(product.run_async({value}, {.stop = stop_others.get_token()}));
  auto last = product.run_async({value}, {.stop = stop.get_token()});
  CHECK(time_of([&] {
          stop.request_stop();
          CHECK(outcome_of(last).kind() == error_kind::cancelled);
        }) < prompt_limit);
  CHECK(outcome_of(runs.front()).ok());
  stop_others.request_stop();
  for (size_t i = 1; i < runs.size(); ++i)
    (void)outcome_of(runs[i]);
}

TEST_CASE("many steps in a longer queue are stopped") {
  watchdog watch;
  busy_session fixture{where::local, body::counter};
  for (int i = 0; i < 15'000 / timeout_scale; ++i)
    fixture.busy.push_back(
        fixture.compute({.timeout = deadline_of_others, .stop = fixture.stop.get_token()}));
  std::stop_source stop;
  std::vector<std::future<std::vector<tensor>>> stopped;
  for (int i = 0; i < 6'000 / timeout_scale; ++i)
    stopped.push_back(fixture.compute({.timeout = deadline_of_others, .stop = stop.get_token()}));
  CHECK(time_of([&] {
          stop.request_stop();
          for (auto& run : stopped)
            CHECK(outcome_of(run).kind() == error_kind::cancelled);
        }) < prompt_limit);
}

TEST_CASE("a step that runs on its caller's thread alone ends at its deadline") {
  watchdog watch;
  busy_session fixture{where::local};
  auto slow = fixture.prepare_products(); // occupies the spare threads
  std::vector<std::future<std::vector<tensor>>> runs;
  for (int i = 0; i < 4; ++i)
    runs.push_back(
        slow.run_async({tensor::from_values<float>({1000, 1000}, std::vector<float>(1'000'000))},
                       {.stop = fixture.stop.get_token()}));
  auto m = fixture.g.placeholder(dtype::f32, {200, 200}, "m");
  auto pairs = m;
  for (int i = 0; i < 3'000; ++i)
    pairs = matmul(pairs, m) + matmul(m, pairs);
  auto step = fixture.s->prepare({m}, {pairs});
  auto value = tensor::from_values<float>({200, 200}, std::vector<float>(40'000));
  status outcome;
  CHECK(time_of([&] {
          outcome = status_thrown_by([&] { step.run({value}, {.timeout = 200ms}); });
        }) < 200ms + prompt_limit);
  CHECK(outcome.kind() == error_kind::deadline_exceeded);
}

TEST_CASE("the caller's thread runs the nodes that follow an answer") {
  watchdog watch;
  busy_session fixture{where::local};
  auto& g = fixture.g;
  auto queue = fifo_queue(g, {dtype::f32}, {.shapes = {{300, 300}}});
  auto fed = g.placeholder(dtype::f32, {300, 300});
  auto put_step = fixture.s->prepare({fed}, {}, {queue_enqueue(queue, {fed})});
  auto m = queue_dequeue(queue, {dtype::f32})[0];
  auto y = m;
  for (int i = 0; i < 10; ++i)
    y = matmul(y, m);
  auto take = fixture.s->prepare({}, {sum(y)});
  auto blocking_take =
      std::async(std::launch::async, [&] { return take.run({}, {.timeout = 20s}); });
  std::this_thread::sleep_for(100ms);
  put_step.run({tensor::from_values<float>({300, 300}, std::vector<float>(90'000, 0.001f))});
  CHECK(time_of([&] { CHECK_NOTHROW(blocking_take.get()); }) < 10 * prompt_limit);
}

TEST_CASE("a loop that reads available elements of a queue leaves time to connections of others") {
  watchdog watch;
  graph_builder g;
  auto queue = fifo_queue(g, {dtype::i64}, {.shapes = {{}}});
  auto first_put = queue_enqueue(queue, {g.constant(int64_t{1})});
  auto iterations = g.placeholder(dtype::i64, shape{}, "turns");
  auto loop = while_loop(
      {g.constant(int64_t{0})}, [&](auto& v) { return less(v[0], iterations); },
      [&](auto& v) {
        auto element = queue_dequeue(queue, {dtype::i64})[0];
        auto* put_back = queue_enqueue(queue, {element});
        auto order = g.after({put_back});
        return std::vector<edge>{v[0] + element};
      })[0];
  auto x = g.placeholder(dtype::f32, shape{}, "x");
  auto cluster = make_cluster(1, 0);
  auto options = options_of_task(cluster, {"worker", 0});
  options.inter_op_threads = 2;
  auto worker = start_task(std::move(options));
  auto s = session::connect(cluster);
  s.run({}, {}, {first_put});
  auto endless = s.prepare({iterations}, {loop});
  auto quick = s.prepare({x}, {x * 2});
  std::stop_source stop;
  auto runs = endless.run_async({tensor::scalar(int64_t{1} << 60)}, {.stop = stop.get_token()});
  std::this_thread::sleep_for(50ms);
  for (int i = 0; i < 5; ++i)
    CHECK(time_of([&] { quick.run({tensor::scalar(1.0f)}, {.timeout = 10s}); }) < prompt_limit);
  CHECK(time_of([&] {
          stop.request_stop();
          CHECK(outcome_of(runs).kind() == error_kind::cancelled);
        }) < prompt_limit);
}

} // namespace troupe::test::busy_kernels_test
