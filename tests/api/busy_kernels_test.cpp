// Sessions all of whose kernel threads are kept by steps that compute for long.
#include "tests/support/catch.hpp"
#include "tests/support/failure_of.hpp"
#include "tests/support/processes.hpp"
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

// What is promised is 50 ms; without the promise, the deadline of the steps that compute.
constexpr auto soon = 1s * slowness;
constexpr auto deadline_of_others = 60s;

enum class where { local, worker, hosted };
enum class body { product, counter };

clock::duration time_of(auto&& act) {
  auto begin = clock::now();
  act();
  return clock::now() - begin;
}

status outcome_of(std::future<std::vector<tensor>>& run) {
  return thrown_by([&] { run.get(); });
}

// Eight steps that would compute for hours, on two threads.
class busy_session {
public:
  explicit busy_session(where at, body of = body::product) {
    auto matrix = tensor::of<float>({64, 64}, std::vector<float>(64 * 64, 0.01f));
    auto still = [&](auto& v) { return less(v[0], turns); };
    auto loop =
        of == body::product
            ? while_loop({g.constant(int64_t{0}), g.constant(matrix)}, still,
                         [](auto& v) {
                           return std::vector<edge>{v[0] + int64_t{1}, tanh(matmul(v[1], v[1]))};
                         })[0]
            : while_loop({g.constant(int64_t{0})}, still,
                         [](auto& v) { return std::vector<edge>{v[0] + int64_t{1}}; })[0];
    if (at == where::local) {
      s.emplace(session::local({.threads = {.intra_op = 1, .inter_op = 2}}));
    } else {
      cluster = make_cluster(1, 0);
      auto options = options_of_task(cluster, {"worker", 0});
      options.inter_op_threads = 2;
      worker = start_task(std::move(options));
      auto address = cluster.jobs.at("worker").front();
      s.emplace(at == where::worker ? session::connect(cluster)
                                    : session::connect(concat("master:", address)));
    }
    endless.emplace(s->prepare({turns}, {loop}));
    quick.emplace(s->prepare({x}, {x * 2}));
    quick->run({one});
    for (int i = 0; i < 8; ++i)
      busy.push_back(compute({.timeout = deadline_of_others, .stop = stop.get_token()}));
    std::this_thread::sleep_for(100ms);
  }
  ~busy_session() { stop.request_stop(); }

  std::future<std::vector<tensor>> compute(const run_options& how) {
    return endless->run_async({tensor::scalar(int64_t{1} << 60)}, how);
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
  edge turns = g.placeholder(dtype::i64, shape{}, "turns");
  edge x = g.placeholder(dtype::f32, {-1}, "x");
  tensor one = tensor::vector<float>({1});
  cluster_spec cluster;
  std::unique_ptr<task> worker;
  std::stop_source stop;
  std::optional<session> s;
  std::optional<step> endless, quick;
  std::vector<std::future<std::vector<tensor>>> busy;
};

template <class Act>
void in_each(Act act) {
  for (auto at : {where::local, where::worker, where::hosted})
    for (auto of : {body::product, body::counter}) {
      INFO("session " << static_cast<int>(at) << ", body " << static_cast<int>(of));
      busy_session in{at, of};
      act(in);
    }
}

} // namespace

TEST_CASE("a stop token ends steps that compute, and those in line behind them, at once") {
  watchdog watch;
  in_each([](busy_session& in) {
    CHECK(time_of([&] {
            in.stop.request_stop();
            for (auto& one : in.busy)
              CHECK(outcome_of(one).kind() == error_kind::cancelled);
          }) < soon);
  });
}

TEST_CASE("a stop token ends one step in line while others compute") {
  watchdog watch;
  in_each([](busy_session& in) {
    std::stop_source mine;
    auto last = in.compute({.timeout = deadline_of_others, .stop = mine.get_token()});
    std::this_thread::sleep_for(20ms);
    CHECK(time_of([&] {
            mine.request_stop();
            CHECK(outcome_of(last).kind() == error_kind::cancelled);
          }) < soon);
  });
}

TEST_CASE("a session closes within two seconds while steps compute") {
  watchdog watch;
  in_each([](busy_session& in) {
    CHECK(time_of([&] { in.s.reset(); }) < 2s * slowness);
    for (auto& one : in.busy)
      CHECK(outcome_of(one).kind() == error_kind::cancelled);
  });
}

TEST_CASE("quick steps run while others keep all threads") {
  watchdog watch;
  in_each([](busy_session& in) {
    for (int i = 0; i < 5; ++i) {
      std::future<std::vector<tensor>> run;
      CHECK(time_of([&] {
              run = in.quick->run_async({in.one}, {.timeout = 10s});
              CHECK(outcome_of(run).ok());
            }) < soon);
    }
    std::atomic<int> told{0};
    in.quick->run_async({in.one},
                        [&](const result<std::vector<tensor>>& got) { told = got.ok() ? 1 : -1; },
                        {.timeout = 10s});
    for (auto until = clock::now() + soon; told == 0 && clock::now() < until;)
      std::this_thread::sleep_for(1ms);
    CHECK(told == 1);
    CHECK(time_of([&] { in.quick->run({in.one}); }) < soon);
  });
}

TEST_CASE("new steps are compiled, and state is asked for, while others keep all threads") {
  watchdog watch;
  in_each([](busy_session& in) {
    CHECK(time_of([&] {
            auto tripled = in.s->fetch(in.x * 3, {{in.x, in.one}}, {.timeout = 10s});
            CHECK(tripled.data<float>()[0] == 3);
          }) < soon);
    CHECK(time_of([&] {
            CHECK(in.s->devices().size() == 1);
            in.s->state_of();
            in.s->reset();
          }) < soon);
  });
}

TEST_CASE("steps in line behind others that compute end at their own deadlines") {
  watchdog watch;
  in_each([](busy_session& in) {
    std::vector<std::future<std::vector<tensor>>> late;
    CHECK(time_of([&] {
            for (int i = 0; i < 4; ++i)
              late.push_back(in.compute({.timeout = 200ms}));
            for (auto& one : late)
              CHECK(outcome_of(one).kind() == error_kind::deadline_exceeded);
          }) < 200ms + soon);
  });
}

TEST_CASE("a step whose queue is filled goes on while others keep all threads") {
  watchdog watch;
  busy_session in{where::local};
  auto& g = in.g;
  auto queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}});
  auto given = g.placeholder(dtype::i32, shape{});
  auto put = in.s->prepare({given}, {}, {queue_enqueue(queue, {given})});
  auto take = in.s->prepare({}, {queue_dequeue(queue, {dtype::i32})[0] + 1});
  auto waits = take.run_async({}, {.timeout = 30s});
  auto here = std::async(std::launch::async, [&] { return take.run({}, {.timeout = 30s}); });
  std::this_thread::sleep_for(50ms);
  CHECK(time_of([&] {
          put.run({tensor::scalar(1)});
          put.run({tensor::scalar(1)});
          CHECK(to_scalar<int>(waits.get().front()) == 2);
          CHECK(to_scalar<int>(here.get().front()) == 2);
        }) < soon);
}

TEST_CASE("a thread that waits for its step runs branches that others have no time for") {
  watchdog watch;
  busy_session in{where::local};
  auto& g = in.g;
  auto m = g.placeholder(dtype::f32, {300, 300}, "m");
  auto left = m, right = m;
  for (int i = 0; i < 4; ++i) {
    left = matmul(left, m);
    right = matmul(m, right) + 1;
  }
  auto branches = in.s->prepare({m}, {sum(left) + sum(right)});
  auto value = tensor::of<float>({300, 300}, std::vector<float>(90'000, 0.01f));
  CHECK(time_of([&] { branches.run({value}, {.timeout = 30s}); }) < 10 * soon);
}

TEST_CASE("a callback that takes long holds up neither deadlines nor other runs") {
  watchdog watch;
  busy_session in{where::local};
  std::promise<void> entered, left;
  in.quick->run_async({in.one}, [&](const auto&) {
    entered.set_value();
    left.get_future().wait();
  });
  REQUIRE(entered.get_future().wait_for(10s) == std::future_status::ready);
  CHECK(time_of([&] {
          CHECK(in.s->fetch(in.x * 5, {{in.x, in.one}}).data<float>()[0] == 5);
          in.quick->run({in.one});
        }) < soon);
  left.set_value();
}

TEST_CASE("a step that another holds up while it is compiled ends at its own deadline") {
  watchdog watch;
  graph_builder g;
  edge long_chain = g.placeholder(dtype::f32, {-1}, "x");
  auto x = long_chain;
  for (int i = 0; i < 20'000; ++i)
    long_chain = long_chain + x;
  std::vector<edge> others; // the graph must not change while it is compiled
  for (int i = 0; i < 200; ++i)
    others.push_back(x * 3);
  auto s = session::local({.passes = pass_options::none()});
  std::atomic<bool> compiled{false};
  auto compiling = std::async(std::launch::async, [&] {
    s.prepare({x}, {long_chain});
    compiled = true;
  });
  auto one = tensor::vector<float>({1});
  for (size_t i = 0; !compiled; ++i) { // fetches of other steps, before, behind and beside it
    status outcome;
    CHECK(time_of([&] {
            outcome = thrown_by([&] {
              s.fetch(others[i % others.size()], {{x, one}}, {.timeout = 10ms});
            });
          }) < soon);
    CHECK((outcome.ok() || outcome.kind() == error_kind::deadline_exceeded));
  }
  compiling.get();
}

TEST_CASE("run_async returns at once, however long what is fed makes it take") {
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
  CHECK(time_of([&] { large = run(4000); }) < 100ms * slowness);
  stop.request_stop();
  (void)outcome_of(large);
}

TEST_CASE("a step that another ends from within a long region ends, and so does its session") {
  watchdog watch;
  graph_builder g;
  auto queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}});
  auto taken = queue_dequeue(queue, {dtype::i32})[0];
  auto* closes = queue_close(queue); // issued before the products
  auto x = g.placeholder(dtype::f32, {-1, -1}, "x");
  auto y = x;
  for (int i = 0; i < 200; ++i)
    y = matmul(y, x);
  std::optional<session> s{session::local({.threads = {.intra_op = 1, .inter_op = 2}})};
  auto take = s->prepare({}, {taken});
  auto both = s->prepare({x}, {y}, {closes});
  auto waits = take.run_async();
  std::this_thread::sleep_for(50ms);
  auto many = tensor::of<float>({1500, 1500}, std::vector<float>(1500 * 1500, 1e-4f));
  auto computes = both.run_async({many});
  CHECK(waits.wait_for(soon) == std::future_status::ready);
  CHECK(time_of([&] { s.reset(); }) < 2s * slowness);
  CHECK(outcome_of(computes).kind() == error_kind::cancelled);
}

TEST_CASE("a step in line is stopped while quick regions take longer than they should") {
  watchdog watch;
  busy_session in{where::local};
  auto slow = in.prepare_products();
  auto many = tensor::of<float>({1000, 1000}, std::vector<float>(1000 * 1000, 1e-4f));
  auto count = GENERATE(1, 4, 8);
  std::stop_source mine;
  auto last = in.compute({.timeout = deadline_of_others, .stop = mine.get_token()});
  std::vector<std::future<std::vector<tensor>>> all;
  for (int i = 0; i < count; ++i)
    all.push_back(slow.run_async({many}, {.stop = in.stop.get_token()}));
  std::this_thread::sleep_for(100ms);
  CHECK(time_of([&] {
          mine.request_stop();
          CHECK(outcome_of(last).kind() == error_kind::cancelled);
        }) < soon);
  CHECK(time_of([&] {
          in.stop.request_stop();
          for (auto& one : all)
            CHECK(outcome_of(one).kind() == error_kind::cancelled);
        }) < soon);
}

TEST_CASE("a step is stopped that stands in a long line which moves") {
  watchdog watch;
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {350, 350}, "x");
  auto y = matmul(x, x);
  auto s = session::local({.threads = {.intra_op = 1, .inter_op = 1}});
  auto product = s.prepare({x}, {y});
  auto value = tensor::of<float>({350, 350}, std::vector<float>(350 * 350, 0.01f));
  std::stop_source rest, mine;
  std::vector<std::future<std::vector<tensor>>> all;
  for (int i = 0; i < 1'500; ++i)
    all.push_back(product.run_async({value}, {.stop = rest.get_token()}));
  auto last = product.run_async({value}, {.stop = mine.get_token()});
  CHECK(time_of([&] {
          mine.request_stop();
          CHECK(outcome_of(last).kind() == error_kind::cancelled);
        }) < soon);
  CHECK(outcome_of(all.front()).ok());
  rest.request_stop();
  for (size_t i = 1; i < all.size(); ++i)
    (void)outcome_of(all[i]);
}

TEST_CASE("many steps are stopped that stand in a longer line") {
  watchdog watch;
  busy_session in{where::local, body::counter};
  for (int i = 0; i < 15'000 / slowness; ++i)
    in.busy.push_back(in.compute({.timeout = deadline_of_others, .stop = in.stop.get_token()}));
  std::stop_source mine;
  std::vector<std::future<std::vector<tensor>>> stopped;
  for (int i = 0; i < 6'000 / slowness; ++i)
    stopped.push_back(in.compute({.timeout = deadline_of_others, .stop = mine.get_token()}));
  CHECK(time_of([&] {
          mine.request_stop();
          for (auto& one : stopped)
            CHECK(outcome_of(one).kind() == error_kind::cancelled);
        }) < soon);
}

TEST_CASE("a caller that runs all of its step itself ends at its deadline") {
  watchdog watch;
  busy_session in{where::local};
  auto slow = in.prepare_products(); // keeps the spare threads
  std::vector<std::future<std::vector<tensor>>> all;
  for (int i = 0; i < 4; ++i)
    all.push_back(slow.run_async({tensor::of<float>({1000, 1000}, std::vector<float>(1'000'000))},
                                 {.stop = in.stop.get_token()}));
  auto m = in.g.placeholder(dtype::f32, {200, 200}, "m");
  auto pairs = m;
  for (int i = 0; i < 3'000; ++i)
    pairs = matmul(pairs, m) + matmul(m, pairs);
  auto step = in.s->prepare({m}, {pairs});
  auto value = tensor::of<float>({200, 200}, std::vector<float>(40'000));
  status outcome;
  CHECK(time_of([&] { outcome = thrown_by([&] { step.run({value}, {.timeout = 200ms}); }); }) <
        200ms + soon);
  CHECK(outcome.kind() == error_kind::deadline_exceeded);
}

TEST_CASE("a caller runs what its step goes on with when an answer has come") {
  watchdog watch;
  busy_session in{where::local};
  auto& g = in.g;
  auto queue = fifo_queue(g, {dtype::f32}, {.shapes = {{300, 300}}});
  auto given = g.placeholder(dtype::f32, {300, 300});
  auto put = in.s->prepare({given}, {}, {queue_enqueue(queue, {given})});
  auto m = queue_dequeue(queue, {dtype::f32})[0];
  auto y = m;
  for (int i = 0; i < 10; ++i)
    y = matmul(y, m);
  auto take = in.s->prepare({}, {sum(y)});
  auto here = std::async(std::launch::async, [&] { return take.run({}, {.timeout = 20s}); });
  std::this_thread::sleep_for(100ms);
  put.run({tensor::of<float>({300, 300}, std::vector<float>(90'000, 0.001f))});
  CHECK(time_of([&] { CHECK_NOTHROW(here.get()); }) < 10 * soon);
}

TEST_CASE("a loop over what a queue has already leaves connections to others") {
  watchdog watch;
  graph_builder g;
  auto queue = fifo_queue(g, {dtype::i64}, {.shapes = {{}}});
  auto put = queue_enqueue(queue, {g.constant(int64_t{1})});
  auto turns = g.placeholder(dtype::i64, shape{}, "turns");
  auto loop = while_loop(
      {g.constant(int64_t{0})}, [&](auto& v) { return less(v[0], turns); },
      [&](auto& v) {
        auto element = queue_dequeue(queue, {dtype::i64})[0];
        auto* back = queue_enqueue(queue, {element});
        auto in = g.after({back});
        return std::vector<edge>{v[0] + element};
      })[0];
  auto x = g.placeholder(dtype::f32, shape{}, "x");
  auto cluster = make_cluster(1, 0);
  auto options = options_of_task(cluster, {"worker", 0});
  options.inter_op_threads = 2;
  auto worker = start_task(std::move(options));
  auto s = session::connect(cluster);
  s.run({}, {}, {put});
  auto endless = s.prepare({turns}, {loop});
  auto quick = s.prepare({x}, {x * 2});
  std::stop_source stop;
  auto runs = endless.run_async({tensor::scalar(int64_t{1} << 60)}, {.stop = stop.get_token()});
  std::this_thread::sleep_for(50ms);
  for (int i = 0; i < 5; ++i)
    CHECK(time_of([&] { quick.run({tensor::scalar(1.0f)}, {.timeout = 10s}); }) < soon);
  CHECK(time_of([&] {
          stop.request_stop();
          CHECK(outcome_of(runs).kind() == error_kind::cancelled);
        }) < soon);
}

} // namespace troupe::test::busy_kernels_test
