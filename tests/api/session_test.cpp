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

std::string here(int line) { return "(session_test.cpp:" + std::to_string(line) + ")"; }

void contains(const std::string& text, const std::string& part) {
  INFO(text << "\nshould contain: " << part);
  CHECK(text.find(part) != text.npos);
}

std::vector<float> floats(const tensor& from) {
  auto values = from.values<float>();
  return {values.begin(), values.end()};
}

} // namespace

TEST_CASE("a silence that peers may keep is at most a day, and not none") {
  for (auto wrong : {-1ms, 0ms, 24h + 1ms}) {
    session_options options;
    options.cluster.peer_timeout = wrong;
    auto said = error_of([&] { session::local(options); }, error_kind::invalid_argument);
    contains(said, "cluster.peer_timeout must be from 1 ms to 24 hours");
    contains(said, std::to_string(wrong.count()));
  }
}

TEST_CASE("a session computes what is fetched from what is fed") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1, 2}, "x");
  auto y = matmul(x, g.constant(tensor::of<float>({2, 2}, {1, 2, 3, 4}))) + 1;
  auto s = session::local();
  auto found = s.run({{x, tensor::of<float>({1, 2}, {1, 1})}}, {y, x});
  REQUIRE(found.size() == 2);
  CHECK(floats(found[0]) == std::vector<float>{5, 7});
  CHECK(floats(found[1]) == std::vector<float>{1, 1});
  CHECK(to_scalar<float>(s.fetch(sum(y), {{x, tensor::of<float>({1, 2}, {0, 1})}})) == 9.0f);
}

TEST_CASE("numbers too small to be normal are zero in a step, and only there") {
#if !defined(__x86_64__) && !defined(__aarch64__)
  return; // no processor that the runtime knows
#endif
  constexpr auto subnormal = std::numeric_limits<float>::denorm_min() * 1000;
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1}, "x");
  auto small = g.placeholder(dtype::f32, {-1}, "small");
  auto never_fed = g.constant(std::numeric_limits<float>::min()) * 0.5f; // folded
  for (auto threads : {1, 4}) {
    auto s = session::local({.threads = {.intra_op = threads}});
    // Enough elements that others help.
    auto many = tensor::of<float>({1 << 18}, std::vector<float>(1 << 18, 1e-30f));
    auto found = s.run({{x, many}, {small, tensor::of<float>({1}, {subnormal})}},
                       {max(x * 1e-10f), small * 1000.0f, never_fed});
    CHECK(to_scalar<float>(found[0]) == 0.0f);
    CHECK(floats(found[1]) == std::vector<float>{0});
    CHECK(to_scalar<float>(found[2]) == 0.0f);
    const volatile float here = subnormal, half = 0.5f;
    CHECK(here * half > 0.0f);
  }
}

TEST_CASE("a session that is to have a GPU says why it can have none") {
  if (make_devices({.intra_op_threads = 1, .gpus = 1}))
    return; // there is one
  try {
    session::local({.gpu = {.count = 1}});
    FAIL("it was made");
  } catch (const error& why) {
    CHECK(why.kind() == error_kind::failed_precondition);
    CHECK(std::string{why.what()}.find("gpus is 1") != std::string::npos);
  }
  CHECK_NOTHROW(session::local({.gpu = {.count = -1}})); // all that there are
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

TEST_CASE("a session tells what its containers hold") {
  graph_builder g;
  auto w = g.variable({1.0f, 2.0f}, "w");
  auto q = fifo_queue(g, {dtype::f32, dtype::i64}, {.shapes = {{2}, shape{}}, .capacity = 3}, "q");
  auto* put = queue_enqueue(q, {w, g.constant(int64_t{7})});
  auto s = session::local({.container = "mine"});
  auto listed = [&] {
    std::vector<std::string> lines;
    for (const auto& one : s.state_of().entries) {
      CHECK(one.task == "/job:local/task:0");
      CHECK(one.container == "mine");
      lines.push_back(
          concat(one.kind, ' ', one.name, ' ', one.holds, ' ', one.bytes, ' ', one.content));
    }
    return lines;
  };
  CHECK(listed().empty());
  error_of([&] { s.run(put); }, error_kind::failed_precondition);
  CHECK(listed() == std::vector<std::string>{"queue q (f32[2], i64[]) 0 0 of 3 elements",
                                             "variable w f32[2] 0 uninitialised"});
  s.run(g.initializer());
  s.run(put);
  CHECK(listed() == std::vector<std::string>{"queue q (f32[2], i64[]) 16 1 of 3 elements",
                                             "variable w f32[2] 8 initialised"});
  s.reset();
  CHECK(listed().empty());
  contains(error_of([&] { s.state_of("/job:chef/task:0"); }, error_kind::not_found), "chef");
}

TEST_CASE("prepared steps run with tensors in the order of their feeds") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {}, "x"), y = g.placeholder(dtype::f32, {}, "y");
  auto s = session::local();
  auto divide = s.prepare({x, y}, {x / y});
  auto found = divide.run({tensor::scalar(6.0f), tensor::scalar(2.0f)});
  CHECK(to_scalar<float>(found[0]) == 3.0f);
}

TEST_CASE("a step fails, but harms nothing, when its session is closed") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {}, "x");
  std::optional<step> left;
  {
    auto s = session::local();
    left = s.prepare({x}, {x + 1});
    left->run({tensor::scalar(1.0f)});
  }
  contains(error_of([&] { left->run({tensor::scalar(1.0f)}); }, error_kind::failed_precondition),
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

TEST_CASE("steps that fail take nothing from those that wait in the background") {
  graph_builder g;
  auto queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}, .shared_name = "q"});
  auto taken = queue_dequeue(queue, {dtype::i32})[0];
  auto put = queue_enqueue(queue, {g.constant(tensor::scalar(7))});
  auto s = session::local();
  auto get = s.prepare({}, {taken});
  std::vector<std::future<std::vector<tensor>>> waiting;
  for (int i = 0; i < 30; ++i)
    waiting.push_back(get.run_async());
  for (int i = 0; i < 60; ++i) // each has a number of its own
    error_of([&] { get.run({}, {.timeout = 1ms}); }, error_kind::deadline_exceeded);
  for (int i = 0; i < 30; ++i)
    s.run(put);
  for (auto& one : waiting) {
    REQUIRE(one.wait_for(20s) == std::future_status::ready);
    CHECK(to_scalar<int32_t>(one.get()[0]) == 7);
  }
}

TEST_CASE("what a callback throws is a warning, and later steps are told") {
  graph_builder g;
  auto y = neg(g.constant(tensor::scalar(3.0f)));
  std::promise<std::string> warned;
  auto s = session::local({.on_warning = [&](const std::string& text) { warned.set_value(text); }});
  auto calls = s.prepare({}, {y});
  calls.run_async({}, [](const auto&) { throw std::runtime_error("a mistake"); });
  contains(warned.get_future().get(), "a mistake");
  CHECK(to_scalar<float>(calls.run_async().get()[0]) == -3.0f);
}

TEST_CASE("a callback is called once, on a thread of the runtime, whatever ends its step") {
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
  std::array<outcome, 7> all;
  const auto here = std::this_thread::get_id();
  auto tell = [here](outcome& to) {
    return [&to, here](const result<std::vector<tensor>>& ended) {
      to.kind = ended.status().kind();
      to.calls_here += std::this_thread::get_id() == here;
      ++to.calls;
    };
  };
  std::stop_source stop, stopped;
  stopped.request_stop();
  divide.run_async({tensor::scalar(2)}, tell(all[0]));
  divide.run_async({tensor::scalar(2.0f)}, tell(all[1]));
  divide.run_async({tensor::scalar(0)}, tell(all[2]));
  take.run_async({}, tell(all[3]), {.timeout = 20ms});
  take.run_async({}, tell(all[4]), {.timeout = 60s, .stop = stop.get_token()});
  divide.run_async({tensor::scalar(2)}, tell(all[5]), {.stop = stopped.get_token()});
  take.run_async({}, tell(all[6]), {.timeout = 60s});
  stop.request_stop();
  for (size_t i = 0; i < 6; ++i)
    for (int n = 0; n < 20'000 && all[i].calls == 0; ++n)
      std::this_thread::sleep_for(1ms);
  s.reset();
  const error_kind expected[] = {error_kind::ok,
                                 error_kind::invalid_argument,
                                 error_kind::invalid_argument,
                                 error_kind::deadline_exceeded,
                                 error_kind::cancelled,
                                 error_kind::cancelled,
                                 error_kind::cancelled};
  for (size_t i = 0; i < all.size(); ++i) {
    INFO("step " << i);
    CHECK(all[i].calls == 1);
    CHECK(all[i].calls_here == 0);
    CHECK(all[i].kind == expected[i]);
  }
}

TEST_CASE("a session runs what is added to a graph between its runs, control edges too") {
  graph_builder g;
  auto count = g.variable(0, "count");
  auto more = assign_add(count, 1);
  auto y = neg(g.constant(tensor::scalar(2.0f)));
  auto s = session::local();
  s.run(g.initializer());
  for (int i = 0; i < 2; ++i)
    s.fetch(y);
  CHECK(to_scalar<int>(s.fetch(count)) == 0);
  REQUIRE(g.add_control(*more.node, *y.node).ok());
  for (int i = 1; i < 3; ++i) {
    s.fetch(y);
    CHECK(to_scalar<int>(s.fetch(count)) == i);
  }
}

TEST_CASE("state that a task does not list because it has very much is counted") {
  graph_builder g;
  std::vector<edge> sizes;
  for (int i = 0; i < 20; ++i) { // names of 20 MiB, and a list has 16
    fifo_queue_options options{.capacity = 1};
    options.shared_name = concat("queue", i, std::string(size_t{1} << 20, 'x'));
    sizes.push_back(queue_size(fifo_queue(g, {dtype::f32}, options)));
  }
  auto s = session::local();
  s.run({}, sizes);
  auto found = s.state_of();
  CHECK(found.left_out > 0);
  CHECK(found.entries.size() + found.left_out == 20);
  size_t text = 0;
  for (const auto& entry : found.entries)
    text += entry.name.size();
  CHECK(text <= state_list::max_text);
}

TEST_CASE("the tasks of a listed cluster are told in their order, and none of them is asked") {
  cluster_spec cluster;
  for (int i = 0; i < 12; ++i)
    cluster.jobs["worker"].push_back(concat("127.0.0.1:", 7001 + i));
  cluster.jobs["ps"] = {"127.0.0.1:7000"};
  auto s = session::connect(cluster); // they are not there
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
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i)
        if (to_scalar<int>(square_it.run({tensor::scalar(t * 1000 + i)})[0]) !=
            (t * 1000 + i) * (t * 1000 + i))
          ++wrong;
    });
  threads.clear();
  CHECK(wrong == 0);
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

TEST_CASE("a session outlives its graphs, and never takes one for another") {
  auto s = session::local();
  for (int i = 0; i < 300; ++i) {
    graph_builder g; // likely where the last one was
    auto y = g.placeholder(dtype::i32, {}, "x") + i;
    auto x = *g.find_edge("x");
    REQUIRE(to_scalar<int>(s.fetch(y, {{x, 1}})) == i + 1);
  }
}

TEST_CASE("descending a gradient finds the line through points") {
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

TEST_CASE("errors of a run name the node, what was expected, and the line of the run") {
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
  contains(text, "session::run " + here(line));
  contains(text, "Placeholder 'x'");
  contains(text, "f32[?,2]");
  text = error_of(
      [&] {
        line = __LINE__ + 1;
        s.run({{x, {1.0f, 2.0f, 3.0f}}}, {y});
      },
      error_kind::invalid_argument);
  contains(text, here(line));
  contains(text, "f32[?,2]");
  contains(text, "f32[3]");
  text = error_of(
      [&] {
        line = __LINE__ + 1;
        s.run({{x, tensor::of<int>({1, 2}, {1, 2})}}, {y});
      },
      error_kind::invalid_argument);
  contains(text, here(line));
  contains(text, "i32[1,2]");
  text = error_of(
      [&] {
        line = __LINE__ + 1;
        s.run({{x, {1.0f}}}, {edge{}});
      },
      error_kind::invalid_argument);
  contains(text, here(line));
  contains(text, "fetch 0");
  text = error_of(
      [&] {
        line = __LINE__ + 1;
        s.run({}, {});
      },
      error_kind::invalid_argument);
  contains(text, here(line));
  contains(text, "nothing to fetch");
  text = error_of(
      [&] {
        line = __LINE__ + 1;
        s.prepare({}, {y});
      },
      error_kind::invalid_argument);
  contains(text, "session::prepare " + here(line));
  auto prepared = s.prepare({x}, {y});
  text = error_of(
      [&] {
        line = __LINE__ + 1;
        prepared.run({});
      },
      error_kind::invalid_argument);
  contains(text, "step::run " + here(line));
  text = error_of([&] { session::connect("{\"worker\": 3}"); }, error_kind::invalid_argument);
  contains(text, "worker");
}

TEST_CASE("a step that waits too long ends at its deadline") {
  graph_builder g;
  auto queue = fifo_queue(g, {dtype::f32});
  auto taken = queue_dequeue(queue, {dtype::f32});
  auto s = session::local();
  auto before = std::chrono::steady_clock::now();
  error_of([&] { s.run({}, taken, {}, {.timeout = 100ms}); }, error_kind::deadline_exceeded);
  CHECK(std::chrono::steady_clock::now() - before < 5s);
}

TEST_CASE("a local session has one device for the processor") {
  auto s = session::local({.threads = {.intra_op = 1, .inter_op = 1}});
  auto found = s.devices();
  REQUIRE(found.size() == 1);
  CHECK(found[0].name == "/job:local/task:0/device:cpu:0");
  CHECK(found[0].kind == "cpu");
}

TEST_CASE("a local session serves metrics of its steps, on loopback") {
  watchdog watch;
  graph_builder g;
  auto queue = fifo_queue(g, {dtype::f32}, {.shapes = {{}}});
  auto* put = queue_enqueue(queue, {g.constant(1.f)});
  auto taken = queue_dequeue(queue, {dtype::f32}, "take")[0];
  auto s = session::local({.http = "127.0.0.1:0"});
  REQUIRE(s.http_port() != 0);
  for (int i = 0; i < 3; ++i)
    s.run(put);
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
    s.fetch(taken);
  auto waits = std::async(std::launch::async, [&] { return s.fetch(taken); });
  while (body("/v1/node/job:local/task:0?depth=3&only=step,wait").find("'take'") ==
         std::string::npos) // the watchdog bounds it
    ;
  s.run(put);
  waits.get();
  contains(body("/metrics"), "troupe_steps_running 0\n");
}

TEST_CASE("a session that cannot serve HTTP says why") {
  auto text =
      error_of([] { session::local({.http = "0.0.0.0:0"}); }, error_kind::failed_precondition);
  contains(text, "http_anywhere");
  CHECK(session::local({.http = "0.0.0.0:0", .http_anywhere = true}).http_port() != 0);
  CHECK(session::local().http_port() == 0);
  text = error_of([] { session::local({.http = "nowhere"}); }, error_kind::invalid_argument);
  contains(text, "host:port");
  for (auto cluster : {R"({"worker": ["127.0.0.1:1"]})", "master:127.0.0.1:1"}) {
    text = error_of([&] { session::connect(cluster, {.http = "127.0.0.1:0"}); },
                    error_kind::invalid_argument);
    contains(text, "troupe worker --http");
  }
}

TEST_CASE("a step may run without a thread that waits") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {});
  auto s = session::local();
  auto square_it = s.prepare({x}, {square(x)});
  auto future = square_it.run_async({tensor::scalar(3.0f)});
  REQUIRE(future.wait_for(10s) == std::future_status::ready);
  CHECK(to_scalar<float>(future.get().at(0)) == 9.0f);

  auto line = __LINE__ + 1;
  auto wrong = square_it.run_async({tensor::scalar(3)});
  auto text = error_of([&] { wrong.get(); }, error_kind::invalid_argument);
  contains(text, here(line));
  contains(text, "i32");
}

TEST_CASE("a thousand steps of one kind are under way at once") {
  constexpr int many = 1000;
  graph_builder g;
  auto queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}});
  auto taken = queue_dequeue(queue, {dtype::i32})[0];
  auto given = g.placeholder(dtype::i32, {});
  auto put = queue_enqueue(queue, {given});
  auto s = session::local();
  auto take = s.prepare({}, {taken + 1});
  std::atomic<int> sum = 0, failed = 0;
  std::latch all{many};
  for (int i = 0; i < many; ++i)
    take.run_async({}, [&](result<std::vector<tensor>> got) {
      if (got)
        sum += to_scalar<int>(got->at(0));
      else
        ++failed;
      all.count_down();
    });
  CHECK(sum == 0); // all of them wait
  auto give = s.prepare({given}, {}, {put});
  for (int i = 0; i < many; ++i)
    give.run({tensor::scalar(i)});
  all.wait();
  CHECK(failed == 0);
  CHECK(sum == many * (many - 1) / 2 + many);
}

TEST_CASE("a session that closes tells whoever waits for a step, once") {
  graph_builder g;
  auto queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}});
  auto taken = queue_dequeue(queue, {dtype::i32})[0];
  std::atomic<int> told = 0, cancelled = 0;
  {
    auto s = session::local();
    auto take = s.prepare({}, {taken + 1});
    for (int i = 0; i < 20; ++i)
      take.run_async({}, [&](result<std::vector<tensor>> got) {
        ++told;
        cancelled += !got && got.status().kind() == error_kind::cancelled;
      });
  }
  CHECK(told == 20);
  CHECK(cancelled == 20);
}

TEST_CASE("steps beyond the most at once wait in line, no longer than their deadline") {
  graph_builder g;
  auto queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}});
  auto taken = queue_dequeue(queue, {dtype::i32})[0];
  auto given = g.placeholder(dtype::i32, {});
  auto put = queue_enqueue(queue, {given});
  auto s = session::local({.max_concurrent_steps = 1});
  auto take = s.prepare({}, {taken + 1});
  auto give = s.prepare({given}, {}, {put});
  auto first = take.run_async(), second = take.run_async();
  auto impatient = take.run_async({}, {.timeout = 50ms});
  auto text = error_of([&] { impatient.get(); }, error_kind::deadline_exceeded);
  contains(text, "wait in line");
  text = error_of([&] { take.run({}, {.timeout = 50ms}); }, error_kind::deadline_exceeded);
  contains(text, "wait in line");
  give.run({tensor::scalar(10)});
  CHECK(to_scalar<int>(first.get().at(0)) == 11); // in the order in which they came
  give.run({tensor::scalar(20)});
  CHECK(to_scalar<int>(second.get().at(0)) == 21);
}

TEST_CASE("heavy branches give the same results as one after the other") {
  graph_builder g;
  auto x = g.constant(tensor::of<float>({300, 300}, std::vector<float>(90'000, 0.01f)));
  auto left = x, right = x;
  for (int i = 0; i < 4; ++i) {
    left = matmul(left, x);
    right = matmul(x, right) + 1;
  }
  auto both = sum(left) + sum(right);
  auto one = session::local({.threads = {.intra_op = 1, .inter_op = 1}});
  auto several = session::local({.threads = {.intra_op = 1, .inter_op = 4}});
  auto wanted = to_scalar<float>(one.fetch(both));
  for (int i = 0; i < 20; ++i)
    CHECK(to_scalar<float>(several.fetch(both)) == wanted);
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
  auto other = s.prepare({images}, {images + 1.f});
  text = error_of([&] { other.run({{"image", two}}); }, error_kind::invalid_argument);
  contains(text, "the step has no feed 'image', did you mean 'images'?");
}

TEST_CASE("an error tells which node and op failed, and on which task") {
  graph_builder g;
  auto x = g.placeholder(dtype::i32, shape{}, "x");
  auto wrong = div(g.constant(7), x, "quotient");
  auto s = session::local();
  try {
    s.fetch(wrong, {{x, 0}});
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
