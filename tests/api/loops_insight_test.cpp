// Errors, late steps and statistics of nested loops.
#include "tests/support/catch.hpp"
#include "tests/support/thrown_errors.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/troupe.hpp"

#include <thread>

namespace troupe::test::loops_insight_test {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using list = std::vector<edge>;

constexpr size_t mebibyte = 1 << 20;
constexpr int64_t mebi_floats = 1 << 18; // a mebibyte of f32

// Three iterations of a loop, each with two iterations of an inner loop.
struct nested_loops_graph {
  graph_builder g;
  edge x = g.placeholder(dtype::f32, {-1}, "x");
  edge rows = fifo_queue(g, {dtype::f32}, {.shapes = {partial_shape{}}}, "rows");

  edge row() {
    return reshape(queue_dequeue(rows, {dtype::f32})[0], tensor::from_values<int32_t>({0}, {}));
  }
  edge loop(const std::function<edge(edge)>& iteration) {
    auto counts_to = [](int32_t limit) {
      return [limit](const list& v) { return less(v[0], limit); };
    };
    return while_loop({g.constant(0), x}, counts_to(3),
                      [&](const list& v) {
                        auto inner = while_loop(
                            {g.constant(0), v[1]}, counts_to(2),
                            [&](const list& w) {
                              return list{w[0] + 1, iteration(w[1])};
                            },
                            {.name = "rnn", .shapes = {shape{}, {-1}}, .parallel_iterations = 1});
                        return list{v[0] + 1, inner[1]};
                      },
                      {.name = "train", .shapes = {shape{}, {-1}}, .parallel_iterations = 1})[1];
  }
  std::string failure(session& s, const tensor& fed, edge output, const run_options& options = {}) {
    return error_text_of([&] { s.run({{x, fed}}, {output}, {}, options); });
  }
  void enqueue_values(session& s, const std::vector<float>& values) {
    for (auto number : values)
      s.run(queue_enqueue(rows, {g.constant(number)}));
  }
};

tensor ones_of(int64_t count) {
  return tensor::vector(std::vector<float>(static_cast<size_t>(count), 1));
}

// Whether the text has these parts, in this order.
bool in_order(std::string_view text, const std::vector<std::string_view>& parts) {
  for (auto part : parts) {
    auto position = text.find(part);
    if (position == text.npos)
      return false;
    text.remove_prefix(position + part.size());
  }
  return true;
}

} // namespace

TEST_CASE_METHOD(nested_loops_graph,
                 "an out-of-memory error in nested loops names the loops and their tensors") {
  auto s = session::local({.memory = {.limit = 10 * mebibyte}});
  SECTION("that run as blocks") {
    auto doubled = loop([](edge v) { return tile(v, {2}, "twice"); });
    auto outcome = failure(s, ones_of(mebi_floats), doubled);
    INFO(outcome);
    CHECK(in_order(outcome, {"[StatelessWhile 'train' (", " iteration 1]: [", "rnn' (",
                             " iteration 0]: Tile '", "out of memory: 8388608 bytes"}));
    CHECK(in_order(outcome, {"; its functions' largest tensors: 4194304 bytes, f32[1048576] of [",
                             "While 'train' (", " iteration 1] [", "rnn' (", " iteration 0] "}));
  }
  SECTION("that run in frames") {
    auto doubled = loop([this](edge v) { return tile(v + row(), {2}, "twice"); });
    enqueue_values(s, {0, 0, 0, 0, 0, 0});
    auto outcome = failure(s, ones_of(mebi_floats), doubled);
    INFO(outcome);
    CHECK(in_order(outcome, {"[While 'train' (", " iteration 1]: [While '", "rnn' (",
                             " iteration 0]: Tile '", "out of memory: 8388608 bytes"}));
    CHECK(
        in_order(outcome, {"; the iteration's largest tensors: 4194304 bytes, f32[1048576] of "}));
  }
}

TEST_CASE_METHOD(nested_loops_graph,
                 "an error in an iteration of a frame names all enclosing loops") {
  auto s = session::local();
  auto divided = loop([this](edge v) {
    return cast(floor_div(cast(v, dtype::i32), cast(row(), dtype::i32)), dtype::f32);
  });
  enqueue_values(s, {1, 1, 1, 0, 1, 1});
  auto outcome = failure(s, ones_of(1), divided);
  INFO(outcome);
  CHECK(in_order(outcome, {"[While 'train' (", " iteration 1]: [While '", "rnn' (",
                           " iteration 1]: ", "cannot divide"}));
}

TEST_CASE_METHOD(nested_loops_graph, "a late step reports the waits of its loops' iterations") {
  watchdog watch;
  auto s = session::local();
  auto sum = loop([this](edge v) { return v + row(); });
  enqueue_values(s, {1, 1, 1});
  auto error_text = failure(s, ones_of(1), sum, {.timeout = 300ms});
  INFO(error_text);
  CHECK_THAT(error_text, Contains("was not done in time"));
  CHECK(in_order(error_text, {" waited for\n", "the functions of While 'train' (",
                              "[While 'train' (", " iteration 1] [While '", "rnn' (",
                              " iteration 1] QueueDequeue '", "on queue 'rows', for "}));
  CHECK(in_order(error_text, {" did last\n", " ago: in While '", "rnn' (",
                              "began to wait for QueueDequeue '"}));
  // The failed step's elements have been returned.
  CHECK(to_scalar<int32_t>(s.fetch(queue_size(rows))) == 3);
}

TEST_CASE_METHOD(nested_loops_graph,
                 "an iteration may end long after the enclosing ones, when the step has failed") {
  watchdog watch;
  constexpr int32_t extent = 1000;
  auto s = session::local();
  auto product = loop([this](edge v) {
    return while_loop(
        {g.constant(0), v}, [](const list& w) { return less(w[0], 2); },
        [&](const list& w) {
          auto m = reshape(w[1] + row(), tensor::from_values<int32_t>({2}, {extent, extent}));
          return list{w[0] + 1, reshape(matmul(m, m) * 0.0f, {-1})}; // runs for a while
        },
        {.name = "products", .shapes = {shape{}, {-1}}})[1];
  });
  auto unused_rows = fifo_queue(g, {dtype::i32}, {.shapes = {partial_shape{}}}, "others");
  auto independent = floor_div(1, queue_dequeue(unused_rows, {dtype::i32})[0]);
  auto give = g.placeholder(dtype::i32, shape{}, "give");
  auto* put_other = queue_enqueue(unused_rows, {give});
  enqueue_values(s, std::vector<float>(200, 1));
  auto step = s.prepare({x}, {product, independent});
  s.run(put_other, {{give, 1}});
  step.run({ones_of(extent * extent)}); // compiles all of it
  for (int i = 0; i < 10; ++i) {
    auto late_run = step.run_async({ones_of(extent * extent)});
    std::this_thread::sleep_for(10ms); // by now it multiplies
    s.run(put_other, {{give, 0}});
    CHECK_THAT(error_text_of([&] { late_run.get(); }), Contains("cannot divide"));
  }
}

TEST_CASE_METHOD(nested_loops_graph, "the memory of iterations in frames counts as the step's") {
  auto s = session::local();
  auto total = loop([this](edge v) {
    auto large = fill(g, {1 << 18}, row());
    return v + max(large, {0});
  });
  enqueue_values(s, {1, 1, 1, 1, 1, 1});
  step_statistics statistics;
  auto sum = s.run({{x, ones_of(1)}}, {total}, {}, {.statistics = &statistics});
  CHECK(*sum[0].data<float>() == 7);
  REQUIRE(statistics.tasks.size() == 1);
  CHECK(statistics.tasks[0].allocated_bytes >= 6 * mebibyte);
  CHECK(statistics.tasks[0].peak_bytes >= mebibyte);
  CHECK(statistics.tasks[0].peak_bytes < 3 * mebibyte);
}

} // namespace troupe::test::loops_insight_test
