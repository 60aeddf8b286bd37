#include "tests/support/catch.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/troupe.hpp"

#include <array>
#include <atomic>
#include <cmath>
#include <future>
#include <latch>
#include <limits>
#include <thread>

namespace troupe::test::session_test {

using namespace std::chrono_literals;

namespace {

template <class Body>
std::string error_of(Body&& body, error_kind kind) {
  try {
    body();
  } catch (const error& e) {
    INFO(e.what());
    CHECK(e.kind() == kind);
    return e.what();
  }
  FAIL("nothing was thrown");
  return {};
}

std::string at_line(int line) { return "(session_test.cpp:" + std::to_string(line) + ")"; }

void contains(const std::string& text, const std::string& part) {
  INFO(text << "\nshould contain: " << part);
  CHECK(text.find(part) != text.npos);
}

std::vector<float> floats(const tensor& from) {
  auto values = from.values<float>();
  return {values.begin(), values.end()};
}

} // namespace

TEST_CASE("the peer timeout must be positive and at most a day") {
  for (auto wrong_timeout : {-1ms, 0ms, 24h + 1ms}) {
    session_options options;
    options.cluster.peer_timeout = wrong_timeout;
    auto message = error_of([&] { session::local(options); }, error_kind::invalid_argument);
    contains(message, "cluster.peer_timeout must be from 1 ms to 24 hours");
    contains(message, std::to_string(wrong_timeout.count()));
  }
}

TEST_CASE("a session computes its fetches from its feeds") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1, 2}, "x");
  auto y = matmul(x, g.constant(tensor::from_values<float>({2, 2}, {1, 2, 3, 4}))) + 1;
  auto s = session::local();
  auto results = s.run({{x, tensor::from_values<float>({1, 2}, {1, 1})}}, {y, x});
  REQUIRE(results.size() == 2);
  CHECK(floats(results[0]) == std::vector<float>{5, 7});
  CHECK(floats(results[1]) == std::vector<float>{1, 1});
  CHECK(to_scalar<float>(s.fetch(sum(y), {{x, tensor::from_values<float>({1, 2}, {0, 1})}})) ==
        9.0f);
}

TEST_CASE("subnormal numbers are zero in a step, and only there") {
#if !defined(__x86_64__) && !defined(__aarch64__)
  return; // not a processor that the runtime knows
#endif
  constexpr auto subnormal = std::numeric_limits<float>::denorm_min() * 1000;
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1}, "x");
  auto small = g.placeholder(dtype::f32, {-1}, "small");
  auto never_fed = g.constant(std::numeric_limits<float>::min()) * 0.5f; // folded
  for (auto threads : {1, 4}) {
    auto s = session::local({.threads = {.intra_op = threads}});
    // Enough elements that other threads take part.
    auto many_values = tensor::from_values<float>({1 << 18}, std::vector<float>(1 << 18, 1e-30f));
    auto results = s.run({{x, many_values}, {small, tensor::from_values<float>({1}, {subnormal})}},
                         {max(x * 1e-10f), small * 1000.0f, never_fed});
    CHECK(to_scalar<float>(results[0]) == 0.0f);
    CHECK(floats(results[1]) == std::vector<float>{0});
    CHECK(to_scalar<float>(results[2]) == 0.0f);
    const volatile float smallest = subnormal, half = 0.5f;
    CHECK(smallest * half > 0.0f);
  }
}

TEST_CASE("a session without the requested GPU reports why") {
  // The machine has a GPU.
  if (make_devices({.intra_op_threads = 1, .gpus = 1}))
    return;
  try {
    session::local({.gpu = {.count = 1}});
    FAIL("it was made");
  } catch (const error& thrown) {
    CHECK(thrown.kind() == error_kind::failed_precondition);
    CHECK(std::string{thrown.what()}.find("gpus is 1") != std::string::npos);
  }
  CHECK_NOTHROW(session::local({.gpu = {.count = -1}})); // all GPUs
}

TEST_CASE("variables keep their values from run to run, until they are reset") {
  graph_builder g;
  auto count = g.variable(0, "count");
  auto next = assign_add(count, 1);
  auto s = session::local();
  contains(error_of([&] { s.fetch(count); }, error_kind::failed_precondition), "'count'");
  s.run(g.initializer());
  for (int i = 1; i <= 3; ++i)
    CHECK(to_scalar<int>(s.fetch(next)) == i);
  s.reset();
  error_of([&] { s.fetch(count); }, error_kind::failed_precondition);
}

TEST_CASE("a session lists the state in its containers") {
  graph_builder g;
  auto w = g.variable({1.0f, 2.0f}, "w");
  auto q = fifo_queue(g, {dtype::f32, dtype::i64}, {.shapes = {{2}, shape{}}, .capacity = 3}, "q");
  auto* enqueue = queue_enqueue(q, {w, g.constant(int64_t{7})});
  auto s = session::local({.container = "mine"});
  auto listed = [&] {
    std::vector<std::string> lines;
    for (const auto& entry : s.state_of().entries) {
      CHECK(entry.task == "/job:local/task:0");
      CHECK(entry.container == "mine");
      lines.push_back(concat(entry.kind, ' ', entry.name, ' ', entry.holds, ' ', entry.bytes, ' ',
                             entry.content));
    }
    return lines;
  };
  CHECK(listed().empty());
  error_of([&] { s.run(enqueue); }, error_kind::failed_precondition);
  CHECK(listed() == std::vector<std::string>{"queue q (f32[2], i64[]) 0 0 of 3 elements",
                                             "variable w f32[2] 0 uninitialized"});
  s.run(g.initializer());
  s.run(enqueue);
  CHECK(listed() == std::vector<std::string>{"queue q (f32[2], i64[]) 16 1 of 3 elements",
                                             "variable w f32[2] 8 initialized"});
  s.reset();
  CHECK(listed().empty());
  contains(error_of([&] { s.state_of("/job:chef/task:0"); }, error_kind::not_found), "chef");
}

TEST_CASE("prepared steps run with tensors in the order of their feeds") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {}, "x"), y = g.placeholder(dtype::f32, {}, "y");
  auto s = session::local();
  auto divide = s.prepare({x, y}, {x / y});
  auto results = divide.run({tensor::scalar(6.0f), tensor::scalar(2.0f)});
  CHECK(to_scalar<float>(results[0]) == 3.0f);
}

TEST_CASE("a step fails without harm when its session is closed") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {}, "x");
  std::optional<step> leftover_step;
  {
    auto s = session::local();
    leftover_step = s.prepare({x}, {x + 1});
    leftover_step->run({tensor::scalar(1.0f)});
  }
  contains(error_of([&] { leftover_step->run({tensor::scalar(1.0f)}); },
                    error_kind::failed_precondition),
           "closed");
}

TEST_CASE("a callback may close its own session") {
  graph_builder g;
  auto y = neg(g.constant(tensor::scalar(3.0f)));
  auto s = std::make_unique<session>(session::local());
  auto calls = s->prepare({}, {y});
  std::latch closed{1};
  calls.run_async({}, [&](const auto& outcome) {
    CHECK(outcome.status().ok());
    s.reset();
    closed.count_down();
  });
  closed.wait();
  CHECK(!s);
  error_of([&] { calls.run(); }, error_kind::failed_precondition);
}

TEST_CASE("steps that fail take no elements from steps that wait in the background") {
  graph_builder g;
  auto queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}, .shared_name = "q"});
  auto dequeued = queue_dequeue(queue, {dtype::i32})[0];
  auto enqueue = queue_enqueue(queue, {g.constant(tensor::scalar(7))});
  auto s = session::local();
  auto get = s.prepare({}, {dequeued});
  std::vector<std::future<std::vector<tensor>>> waiting;
  for (int i = 0; i < 30; ++i)
    waiting.push_back(get.run_async());
  for (int i = 0; i < 60; ++i) // each step has its own number
    error_of([&] { get.run({}, {.timeout = 1ms}); }, error_kind::deadline_exceeded);
  for (int i = 0; i < 30; ++i)
    s.run(enqueue);
  for (auto& waiting_run : waiting) {
    REQUIRE(waiting_run.wait_for(20s) == std::future_status::ready);
    CHECK(to_scalar<int32_t>(waiting_run.get()[0]) == 7);
  }
}

TEST_CASE("an exception of a callback is a warning, and later steps report as before") {
  graph_builder g;
  auto y = neg(g.constant(tensor::scalar(3.0f)));
  std::promise<std::string> warned;
  auto s = session::local({.on_warning = [&](const std::string& text) { warned.set_value(text); }});
  auto calls = s.prepare({}, {y});
  calls.run_async({}, [](const auto&) { throw std::runtime_error("a mistake"); });
  contains(warned.get_future().get(), "a mistake");
  CHECK(to_scalar<float>(calls.run_async().get()[0]) == -3.0f);
}

TEST_CASE("a callback is called once, on a runtime thread, whatever ends its step") {
  graph_builder g;
  auto x = g.placeholder(dtype::i32, shape{}, "x");
  auto queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}});
  auto s = std::make_unique<session>(session::local());
  auto divide = s->prepare({x}, {div(g.constant(6), x)});
  auto take = s->prepare({}, queue_dequeue(queue, {dtype::i32}));
  struct outcome {
    std::atomic<int> calls{0}, calls_here{0};
    std::atomic<error_kind> kind{error_kind::internal};
  };
  std::array<outcome, 7> outcomes;
  const auto own_thread = std::this_thread::get_id();
  auto tell = [own_thread](outcome& target) {
    return [&target, own_thread](const result<std::vector<tensor>>& result_given) {
      target.kind = result_given.status().kind();
      target.calls_here += std::this_thread::get_id() == own_thread;
      ++target.calls;
    };
  };
  std::stop_source stop, stopped;
  stopped.request_stop();
  divide.run_async({tensor::scalar(2)}, tell(outcomes[0]));
  divide.run_async({tensor::scalar(2.0f)}, tell(outcomes[1]));
  divide.run_async({tensor::scalar(0)}, tell(outcomes[2]));
  take.run_async({}, tell(outcomes[3]), {.timeout = 20ms});
  take.run_async({}, tell(outcomes[4]), {.timeout = 60s, .stop = stop.get_token()});
  divide.run_async({tensor::scalar(2)}, tell(outcomes[5]), {.stop = stopped.get_token()});
  take.run_async({}, tell(outcomes[6]), {.timeout = 60s});
  stop.request_stop();
  for (size_t i = 0; i < 6; ++i)
    for (int n = 0; n < 20'000 && outcomes[i].calls == 0; ++n)
      std::this_thread::sleep_for(1ms);
  s.reset();
  const error_kind expected[] = {error_kind::ok,
                                 error_kind::invalid_argument,
                                 error_kind::invalid_argument,
                                 error_kind::deadline_exceeded,
                                 error_kind::cancelled,
                                 error_kind::cancelled,
                                 error_kind::cancelled};
  for (size_t i = 0; i < outcomes.size(); ++i) {
    INFO("step " << i);
    CHECK(outcomes[i].calls == 1);
    CHECK(outcomes[i].calls_here == 0);
    CHECK(outcomes[i].kind == expected[i]);
  }
}

TEST_CASE("a session runs nodes that are added to a graph between its runs, control edges too") {
  graph_builder g;
  auto count = g.variable(0, "count");
  auto incremented = assign_add(count, 1);
  auto y = neg(g.constant(tensor::scalar(2.0f)));
  auto s = session::local();
  s.run(g.initializer());
  for (int i = 0; i < 2; ++i)
    s.fetch(y);
  CHECK(to_scalar<int>(s.fetch(count)) == 0);
  REQUIRE(g.add_control(*incremented.node, *y.node).ok());
  for (int i = 1; i < 3; ++i) {
    s.fetch(y);
    CHECK(to_scalar<int>(s.fetch(count)) == i);
  }
}

TEST_CASE("state that a task omits because its list is too long is counted") {
  graph_builder g;
  std::vector<edge> sizes;
  for (int i = 0; i < 20; ++i) { // names of 20 MiB; a list may have 16
    fifo_queue_options options{.capacity = 1};
    options.shared_name = concat("queue", i, std::string(size_t{1} << 20, 'x'));
    sizes.push_back(queue_size(fifo_queue(g, {dtype::f32}, options)));
  }
  auto s = session::local();
  s.run({}, sizes);
  auto result = s.state_of();
  CHECK(result.omitted_entries > 0);
  CHECK(result.entries.size() + result.omitted_entries == 20);
  size_t text = 0;
  for (const auto& entry : result.entries)
    text += entry.name.size();
  CHECK(text <= state_list::max_text);
}

TEST_CASE("the tasks of a listed cluster are returned in order, and none of them is queried") {
  cluster_spec cluster;
  for (int i = 0; i < 12; ++i)
    cluster.jobs["worker"].push_back(concat("127.0.0.1:", 7001 + i));
  cluster.jobs["ps"] = {"127.0.0.1:7000"};
  auto s = session::connect(cluster); // the tasks do not run
  std::vector<std::string> expected{"/job:ps/task:0"};
  for (int i = 0; i < 12; ++i)
    expected.push_back(concat("/job:worker/task:", i));
  auto begin = std::chrono::steady_clock::now();
  CHECK(s.tasks() == expected);
  CHECK(std::chrono::steady_clock::now() - begin < 5s);
}

TEST_CASE("many threads may run one step at once") {
  graph_builder g;
  auto x = g.placeholder(dtype::i32, {}, "x");
  auto s = session::local();
  auto square_it = s.prepare({x}, {square(x)});
  std::vector<std::jthread> threads;
  std::atomic<int> wrong_results = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i)
        if (to_scalar<int>(square_it.run({tensor::scalar(t * 1000 + i)})[0]) !=
            (t * 1000 + i) * (t * 1000 + i))
          ++wrong_results;
    });
  threads.clear();
  CHECK(wrong_results == 0);
}

TEST_CASE("an unprepared run may follow a change of the graph") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {}, "x");
  auto y = x + 1;
  auto s = session::local();
  CHECK(to_scalar<float>(s.fetch(y, {{x, 1}})) == 2.0f);
  auto z = y * 3;
  CHECK(to_scalar<float>(s.fetch(z, {{x, 1}})) == 6.0f);
  CHECK(to_scalar<float>(s.fetch(y, {{x, 2}})) == 3.0f);
}

TEST_CASE("a session outlives its graphs, and never confuses two of them") {
  auto s = session::local();
  for (int i = 0; i < 300; ++i) {
    graph_builder g; // likely at the address of the last graph
    auto y = g.placeholder(dtype::i32, {}, "x") + i;
    auto x = *g.find_edge("x");
    REQUIRE(to_scalar<int>(s.fetch(y, {{x, 1}})) == i + 1);
  }
}

TEST_CASE("gradient descent finds the line through points") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1}, "x"), y = g.placeholder(dtype::f32, {-1}, "y");
  auto slope = g.variable(0.0f, "slope"), offset = g.variable(0.0f, "offset");
  auto loss = mean(square(x * slope + offset - y));
  auto* train = gradient_descent{0.1f}.minimize(loss);
  auto s = session::local();
  s.run(g.initializer());
  std::vector<feed> points{{x, {-1.0f, 0.0f, 1.0f, 2.0f}}, {y, {-1.0f, 1.0f, 3.0f, 5.0f}}};
  for (int i = 0; i < 200; ++i)
    s.run(train, points);
  CHECK(std::abs(to_scalar<float>(s.fetch(slope)) - 2) < 1e-3f);
  CHECK(std::abs(to_scalar<float>(s.fetch(offset)) - 1) < 1e-3f);
}

TEST_CASE("errors of feeds name the placeholder, the expected type and the line of the run") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1, 2}, "x");
  auto y = x + 1;
  auto s = session::local();
  int line = 0;
  auto text = error_of(
      [&] {
        line = __LINE__ + 1;
        s.run({}, {y});
      },
      error_kind::invalid_argument);
  contains(text, "session::run " + at_line(line));
  contains(text, "Placeholder 'x'");
  contains(text, "f32[?,2]");
  text = error_of(
      [&] {
        line = __LINE__ + 1;
        s.run({{x, {1.0f, 2.0f, 3.0f}}}, {y});
      },
      error_kind::invalid_argument);
  contains(text, at_line(line));
  contains(text, "f32[?,2]");
  contains(text, "f32[3]");
  text = error_of(
      [&] {
        line = __LINE__ + 1;
        s.run({{x, tensor::from_values<int>({1, 2}, {1, 2})}}, {y});
      },
      error_kind::invalid_argument);
  contains(text, at_line(line));
  contains(text, "i32[1,2]");
}

TEST_CASE("errors of fetches name the fetch and the line of the run") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1, 2}, "x");
  auto s = session::local();
  int line = 0;
  auto text = error_of(
      [&] {
        line = __LINE__ + 1;
        s.run({{x, {1.0f}}}, {edge{}});
      },
      error_kind::invalid_argument);
  contains(text, at_line(line));
  contains(text, "fetch 0");
  text = error_of(
      [&] {
        line = __LINE__ + 1;
        s.run({}, {});
      },
      error_kind::invalid_argument);
  contains(text, at_line(line));
  contains(text, "nothing to fetch");
}

TEST_CASE("errors of prepared steps name the line that prepares or runs the step") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1, 2}, "x");
  auto y = x + 1;
  auto s = session::local();
  int line = 0;
  auto text = error_of(
      [&] {
        line = __LINE__ + 1;
        s.prepare({}, {y});
      },
      error_kind::invalid_argument);
  contains(text, "session::prepare " + at_line(line));
  auto prepared = s.prepare({x}, {y});
  text = error_of(
      [&] {
        line = __LINE__ + 1;
        prepared.run({});
      },
      error_kind::invalid_argument);
  contains(text, "step::run " + at_line(line));
}

TEST_CASE("an invalid cluster specification is an error that names the job") {
  auto text = error_of([&] { session::connect("{\"worker\": 3}"); }, error_kind::invalid_argument);
  contains(text, "worker");
}

TEST_CASE("a step that waits too long ends at its deadline") {
  graph_builder g;
  auto queue = fifo_queue(g, {dtype::f32});
  auto dequeued = queue_dequeue(queue, {dtype::f32});
  auto s = session::local();
  auto before = std::chrono::steady_clock::now();
  error_of([&] { s.run({}, dequeued, {}, {.timeout = 100ms}); }, error_kind::deadline_exceeded);
  CHECK(std::chrono::steady_clock::now() - before < 5s);
}

TEST_CASE("a local session has one device for the processor") {
  auto s = session::local({.threads = {.intra_op = 1, .inter_op = 1}});
  auto result = s.devices();
  REQUIRE(result.size() == 1);
  CHECK(result[0].name == "/job:local/task:0/device:cpu:0");
  CHECK(result[0].kind == "cpu");
}

TEST_CASE("a local session serves metrics of its steps, on loopback") {
  watchdog watch;
  graph_builder g;
  auto queue = fifo_queue(g, {dtype::f32}, {.shapes = {{}}});
  auto* enqueue = queue_enqueue(queue, {g.constant(1.f)});
  auto dequeued = queue_dequeue(queue, {dtype::f32}, "take")[0];
  auto s = session::local({.http = "127.0.0.1:0"});
  REQUIRE(s.http_port() != 0);
  for (int i = 0; i < 3; ++i)
    s.run(enqueue);
  auto body = [&](const std::string& path) {
    http_client client{s.http_port()};
    client.send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    auto answer = client.receive();
    REQUIRE(answer);
    CHECK(answer->status == 200);
    return answer->body;
  };
  CHECK(body("/healthz") == "ok\n");
  CHECK(body("/readyz") == "ok\n");
  contains(body("/metrics"), "troupe_steps_total{outcome=\"ok\"} 3\n");
  contains(body("/v1/node/"), "\"/job:local\"");
  for (int i = 0; i < 3; ++i)
    s.fetch(dequeued);
  auto waiting_take = std::async(std::launch::async, [&] { return s.fetch(dequeued); });
  while (body("/v1/node/job:local/task:0?depth=3&only=step,wait").find("'take'") ==
         std::string::npos) // the watchdog bounds it
    ;
  s.run(enqueue);
  waiting_take.get();
  contains(body("/metrics"), "troupe_steps_running 0\n");
}

TEST_CASE("a session that cannot serve HTTP reports why") {
  auto text =
      error_of([] { session::local({.http = "0.0.0.0:0"}); }, error_kind::failed_precondition);
  contains(text, "http_allow_remote");
  CHECK(session::local({.http = "0.0.0.0:0", .http_allow_remote = true}).http_port() != 0);
  CHECK(session::local().http_port() == 0);
  text = error_of([] { session::local({.http = "nowhere"}); }, error_kind::invalid_argument);
  contains(text, "host:port");
  for (auto cluster : {R"({"worker": ["127.0.0.1:1"]})", "master:127.0.0.1:1"}) {
    text = error_of([&] { session::connect(cluster, {.http = "127.0.0.1:0"}); },
                    error_kind::invalid_argument);
    contains(text, "troupe worker --http");
  }
}

TEST_CASE("a step may run without a waiting thread") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {});
  auto s = session::local();
  auto square_it = s.prepare({x}, {square(x)});
  auto future = square_it.run_async({tensor::scalar(3.0f)});
  REQUIRE(future.wait_for(10s) == std::future_status::ready);
  CHECK(to_scalar<float>(future.get().at(0)) == 9.0f);

  auto line = __LINE__ + 1;
  auto wrong_type_run = square_it.run_async({tensor::scalar(3)});
  auto text = error_of([&] { wrong_type_run.get(); }, error_kind::invalid_argument);
  contains(text, at_line(line));
  contains(text, "i32");
}

TEST_CASE("a thousand steps of one kind are under way at once") {
  constexpr int run_count = 1000;
  graph_builder g;
  auto queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}});
  auto dequeued = queue_dequeue(queue, {dtype::i32})[0];
  auto fed = g.placeholder(dtype::i32, {});
  auto enqueue = queue_enqueue(queue, {fed});
  auto s = session::local();
  auto take = s.prepare({}, {dequeued + 1});
  std::atomic<int> sum = 0, failed = 0;
  std::latch all_done{run_count};
  for (int i = 0; i < run_count; ++i)
    take.run_async({}, [&](result<std::vector<tensor>> outcome) {
      if (outcome)
        sum += to_scalar<int>(outcome->at(0));
      else
        ++failed;
      all_done.count_down();
    });
  CHECK(sum == 0); // all runs wait
  auto give = s.prepare({fed}, {}, {enqueue});
  for (int i = 0; i < run_count; ++i)
    give.run({tensor::scalar(i)});
  all_done.wait();
  CHECK(failed == 0);
  CHECK(sum == run_count * (run_count - 1) / 2 + run_count);
}

TEST_CASE("a session that closes answers each waiting run, once") {
  graph_builder g;
  auto queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}});
  auto dequeued = queue_dequeue(queue, {dtype::i32})[0];
  std::atomic<int> answered = 0, cancelled = 0;
  {
    auto s = session::local();
    auto take = s.prepare({}, {dequeued + 1});
    for (int i = 0; i < 20; ++i)
      take.run_async({}, [&](result<std::vector<tensor>> outcome) {
        ++answered;
        cancelled += !outcome && outcome.status().kind() == error_kind::cancelled;
      });
  }
  CHECK(answered == 20);
  CHECK(cancelled == 20);
}

TEST_CASE("steps beyond the concurrency limit are queued, no longer than their deadline") {
  graph_builder g;
  auto queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}});
  auto dequeued = queue_dequeue(queue, {dtype::i32})[0];
  auto fed = g.placeholder(dtype::i32, {});
  auto enqueue = queue_enqueue(queue, {fed});
  auto s = session::local({.max_concurrent_steps = 1});
  auto take = s.prepare({}, {dequeued + 1});
  auto give = s.prepare({fed}, {}, {enqueue});
  auto first = take.run_async(), second = take.run_async();
  auto impatient = take.run_async({}, {.timeout = 50ms});
  auto text = error_of([&] { impatient.get(); }, error_kind::deadline_exceeded);
  contains(text, "are queued");
  text = error_of([&] { take.run({}, {.timeout = 50ms}); }, error_kind::deadline_exceeded);
  contains(text, "are queued");
  give.run({tensor::scalar(10)});
  CHECK(to_scalar<int>(first.get().at(0)) == 11); // in the order of the calls
  give.run({tensor::scalar(20)});
  CHECK(to_scalar<int>(second.get().at(0)) == 21);
}

TEST_CASE("heavy branches give the same results in parallel and in sequence") {
  graph_builder g;
  auto x = g.constant(tensor::from_values<float>({300, 300}, std::vector<float>(90'000, 0.01f)));
  auto left_branch = x, right_branch = x;
  for (int i = 0; i < 4; ++i) {
    left_branch = matmul(left_branch, x);
    right_branch = matmul(x, right_branch) + 1;
  }
  auto both_sums = sum(left_branch) + sum(right_branch);
  auto serial_session = session::local({.threads = {.intra_op = 1, .inter_op = 1}});
  auto parallel_session = session::local({.threads = {.intra_op = 1, .inter_op = 4}});
  auto expected_sum = to_scalar<float>(serial_session.fetch(both_sums));
  for (int i = 0; i < 20; ++i)
    CHECK(to_scalar<float>(parallel_session.fetch(both_sums)) == expected_sum);
}

TEST_CASE("a prepared step takes its feeds by name") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, shape{}, "x"), y = g.placeholder(dtype::f32, shape{}, "y");
  auto s = session::local();
  auto step = s.prepare({x, y}, {x - y});
  auto two = tensor::scalar(2.0f), three = tensor::scalar(3.0f);
  CHECK(to_scalar<float>(step.run({{"y", two}, {"x", three}}).front()) == 1);
  CHECK(to_scalar<float>(step.run({two, three}).front()) == -1);
  auto text = error_of([&] { step.run({{"x", two}}); }, error_kind::invalid_argument);
  contains(text, "the feed 'y' is missing");
  text = error_of(
      [&] {
        step.run({{"x", two}, {"y", two}, {"z", two}});
      },
      error_kind::invalid_argument);
  contains(text, "the step has no feed 'z'");
  auto images = g.placeholder(dtype::f32, shape{}, "images");
  auto other_step = s.prepare({images}, {images + 1.f});
  text = error_of([&] { other_step.run({{"image", two}}); }, error_kind::invalid_argument);
  contains(text, "the step has no feed 'image', did you mean 'images'?");
}

TEST_CASE("an error names the failed node and op, and its task") {
  graph_builder g;
  auto x = g.placeholder(dtype::i32, shape{}, "x");
  auto quotient = div(g.constant(7), x, "quotient");
  auto s = session::local();
  try {
    s.fetch(quotient, {{x, 0}});
    FAIL("7 was divided by 0");
  } catch (const error& e) {
    CHECK(e.node() == "quotient");
    CHECK(e.op() == "Div");
  }
  try {
    matmul(g.constant(tensor::vector<float>({1})), x, {}, "product");
    FAIL("a product of a vector");
  } catch (const error& e) {
    CHECK(e.node() == "product");
    CHECK(e.op() == "MatMul");
    CHECK(e.task().empty());
  }
}

TEST_CASE("a placeholder has no extent below -1 and no more axes than tensors have") {
  graph_builder g;
  auto text = error_of(
      [&] {
        g.placeholder(dtype::f32, {3, -2}, "x");
      },
      error_kind::invalid_argument);
  contains(text, "Placeholder 'x'");
  contains(text, "-1 (unknown) or more, got -2");
  text = error_of(
      [&] {
        g.placeholder(dtype::f32, {1, 1, 1, 1, 1, 1, 1, 1, 1}, "x");
      },
      error_kind::invalid_argument);
  contains(text, "Placeholder 'x'");
}

} // namespace troupe::test::session_test
