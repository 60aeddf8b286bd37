#include "troupe/tests/support/catch.hpp"
#include "troupe/troupe.hpp"

#include <cmath>
#include <thread>

using namespace troupe;
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
  auto s = session::local({.intra_op_threads = 1, .inter_op_threads = 1});
  auto found = s.devices();
  REQUIRE(found.size() == 1);
  CHECK(found[0].name == "/job:local/task:0/device:cpu:0");
  CHECK(found[0].kind == "cpu");
}
