#include "tests/support/catch.hpp"
#include "troupe/troupe.hpp"

#include <algorithm>
#include <random>

namespace troupe::test::stop_test {

using namespace std::chrono_literals;

namespace {

// Returns how the run ended.
error_kind outcome_of(step& tested_step, const tensor& fed, std::chrono::milliseconds timeout) {
  try {
    tested_step.run({fed}, {.timeout = timeout});
    return error_kind::ok;
  } catch (const error& e) {
    return e.kind();
  }
}

template <class T>
tensor ones_of(int64_t rows, int64_t columns) {
  return tensor::from_values({rows, columns},
                             std::vector<T>(static_cast<size_t>(rows * columns), T{1}));
}

bool all_equal(const tensor& input) {
  auto values = input.values<float>();
  return std::ranges::count(values, values[0]) == input.elements();
}

} // namespace

// The input is fed, because constants may be folded before the step.
TEST_CASE("a long product on the calling thread is stopped by its deadline") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1, -1}, "x");
  auto y = x;
  for (int i = 0; i < 20; ++i) // seconds of work
    y = matmul(y, x);
  auto s = session::local();
  auto long_step = s.prepare({x}, {y});
  CHECK(outcome_of(long_step, ones_of<float>(3000, 3000), 5ms) == error_kind::deadline_exceeded);
}

TEST_CASE("a single product of integers is stopped by its deadline") {
  graph_builder g;
  auto x = g.placeholder(dtype::i32, {-1, -1}, "x");
  auto s = session::local();
  auto long_step = s.prepare({x}, {matmul(x, x)});
  CHECK(outcome_of(long_step, ones_of<int32_t>(1500, 1500), 5ms) == error_kind::deadline_exceeded);
}

TEST_CASE(
    "a long chain of element-wise ops is stopped by its deadline, and the session continues") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1, -1}, "x");
  auto y = x;
  for (int i = 0; i < 500; ++i)
    y = tanh(y);
  auto s = session::local();
  auto long_step = s.prepare({x}, {y});
  auto short_step = s.prepare({x}, {neg(x)});
  auto fed = ones_of<float>(1000, 2000);
  for (int round = 0; round < 3; ++round) {
    CHECK(outcome_of(long_step, fed, 5ms) == error_kind::deadline_exceeded);
    CHECK(outcome_of(short_step, fed, 60s) == error_kind::ok);
  }
}

TEST_CASE("a very long chain of tiny ops is stopped by its deadline") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, shape{}, "x");
  edge y = x;
  for (int i = 0; i < 20'000; ++i)
    y = tanh(y);
  auto s = session::local();
  auto long_step = s.prepare({x}, {y});
  const auto value = tensor::scalar(1.0f);
  CHECK(long_step.run({value}).size() == 1);
  // The deadline lies ahead, or the step would not begin; the step takes several times as long.
  run_options past_options{.deadline =
                               std::chrono::steady_clock::now() + std::chrono::microseconds{100}};
  try {
    long_step.run({value}, past_options);
    FAIL("it was not stopped");
  } catch (const error& e) {
    CHECK(e.kind() == error_kind::deadline_exceeded);
  }
}

TEST_CASE("a variable has its old value or the whole new one when a step is stopped") {
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 generator{seed};
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1, -1}, "x");
  auto w = g.variable(fill(g, {2000, 1000}, 0.0f), "w");
  edge change = x;
  for (int i = 0; i < 4; ++i)
    change = tanh(change) * 0.5f + 1.0f;
  auto s = session::local();
  s.run(g.initializer());
  auto set = s.prepare({x}, {}, {assign(w, change)});
  auto add = s.prepare({x}, {}, {assign_add(w, change)});
  auto read = s.prepare({}, {w});
  auto fed = ones_of<float>(2000, 1000);
  for (int round = 0; round < 30; ++round) {
    auto& chosen_step = generator() % 2 ? set : add;
    auto before = read.run()[0];
    auto timeout = std::chrono::milliseconds{1 + generator() % 20};
    auto outcome = outcome_of(chosen_step, fed, round == 0 ? 60s : timeout);
    auto after = read.run()[0];
    REQUIRE(all_equal(after));
    if (outcome == error_kind::ok && &chosen_step == &add)
      REQUIRE(after.values<float>()[0] > before.values<float>()[0]);
  }
  auto late_outcome = outcome_of(add, fed, 1ms); // too short for the step
  CHECK(late_outcome == error_kind::deadline_exceeded);
}

} // namespace troupe::test::stop_test
