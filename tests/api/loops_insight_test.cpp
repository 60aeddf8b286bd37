// What errors, late steps and statistics say of loops within loops.
#include "tests/support/catch.hpp"
#include "tests/support/failure_of.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/troupe.hpp"

#include <thread>

namespace troupe::test::loops_insight_test {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using list = std::vector<edge>;

constexpr size_t mebibyte = 1 << 20;
constexpr int64_t long_one = 1 << 18; // a mebibyte of f32

// Three turns of a loop with two turns of another one each.
struct nest {
  graph_builder g;
  edge x = g.placeholder(dtype::f32, {-1}, "x");
  edge rows = fifo_queue(g, {dtype::f32}, {.shapes = {partial_shape{}}}, "rows");

  edge row() { return reshape(queue_dequeue(rows, {dtype::f32})[0], tensor::of<int32_t>({0}, {})); }
  edge loop(const std::function<edge(edge)>& turn) {
    auto counts_to = [](int32_t most) {
      return [most](const list& v) { return less(v[0], most); };
    };
    return while_loop({g.constant(0), x}, counts_to(3),
                      [&](const list& v) {
                        auto inner = while_loop(
                            {g.constant(0), v[1]}, counts_to(2),
                            [&](const list& w) {
                              return list{w[0] + 1, turn(w[1])};
                            },
                            {.name = "rnn", .shapes = {shape{}, {-1}}, .parallel_iterations = 1});
                        return list{v[0] + 1, inner[1]};
                      },
                      {.name = "train", .shapes = {shape{}, {-1}}, .parallel_iterations = 1})[1];
  }
  std::string failure(session& s, const tensor& fed, edge what, const run_options& how = {}) {
    return failure_of([&] { s.run({{x, fed}}, {what}, {}, how); });
  }
  void put(session& s, const std::vector<float>& values) {
    for (auto one : values)
      s.run(queue_enqueue(rows, {g.constant(one)}));
  }
};

tensor ones(int64_t count) {
  return tensor::vector(std::vector<float>(static_cast<size_t>(count), 1));
}

// Where the text has these, in this order.
bool in_order(std::string_view text, const std::vector<std::string_view>& parts) {
  for (auto part : parts) {
    auto at = text.find(part);
    if (at == text.npos)
      return false;
    text.remove_prefix(at + part.size());
  }
  return true;
}

} // namespace

TEST_CASE_METHOD(nest, "memory that runs out in loops is told with the nest and what it held") {
  auto s = session::local({.memory = {.limit = 10 * mebibyte}});
  SECTION("that run as blocks") {
    auto twice = loop([](edge v) { return tile(v, {2}, "twice"); });
    auto why = failure(s, ones(long_one), twice);
    INFO(why);
    CHECK(in_order(why, {"[StatelessWhile 'train' (", " iteration 1]: [", "rnn' (",
                         " iteration 0]: Tile '", "out of memory: 8388608 bytes"}));
    CHECK(in_order(why, {"; its functions' largest tensors: 4194304 bytes, f32[1048576] of [",
                         "While 'train' (", " iteration 1] [", "rnn' (", " iteration 0] "}));
  }
  SECTION("that run in frames") {
    auto twice = loop([this](edge v) { return tile(v + row(), {2}, "twice"); });
    put(s, {0, 0, 0, 0, 0, 0});
    auto why = failure(s, ones(long_one), twice);
    INFO(why);
    CHECK(in_order(why, {"[While 'train' (", " iteration 1]: [While '", "rnn' (",
                         " iteration 0]: Tile '", "out of memory: 8388608 bytes"}));
    CHECK(in_order(why, {"; the iteration's largest tensors: 4194304 bytes, f32[1048576] of "}));
  }
}

TEST_CASE_METHOD(nest, "an error in a turn of a frame names all loops around it") {
  auto s = session::local();
  auto divided = loop([this](edge v) {
    return cast(floor_div(cast(v, dtype::i32), cast(row(), dtype::i32)), dtype::f32);
  });
  put(s, {1, 1, 1, 0, 1, 1});
  auto why = failure(s, ones(1), divided);
  INFO(why);
  CHECK(in_order(why, {"[While 'train' (", " iteration 1]: [While '", "rnn' (",
                       " iteration 1]: ", "cannot divide"}));
}

TEST_CASE_METHOD(nest, "a late step says what the turns of its loops wait for") {
  watchdog watch;
  auto s = session::local();
  auto sum = loop([this](edge v) { return v + row(); });
  put(s, {1, 1, 1});
  auto why = failure(s, ones(1), sum, {.timeout = 300ms});
  INFO(why);
  CHECK_THAT(why, Contains("was not done in time"));
  CHECK(in_order(why, {" waited for\n", "the functions of While 'train' (", "[While 'train' (",
                       " iteration 1] [While '", "rnn' (", " iteration 1] QueueDequeue '",
                       "on queue 'rows', for "}));
  CHECK(in_order(
      why, {" did last\n", " ago: in While '", "rnn' (", "began to wait for QueueDequeue '"}));
  // What it took is there again.
  CHECK(to_scalar<int32_t>(s.fetch(queue_size(rows))) == 3);
}

TEST_CASE_METHOD(nest, "a turn may end long after those around it, when the step has failed") {
  watchdog watch;
  constexpr int32_t extent = 1000;
  auto s = session::local();
  auto product = loop([this](edge v) {
    return while_loop(
        {g.constant(0), v}, [](const list& w) { return less(w[0], 2); },
        [&](const list& w) {
          auto m = reshape(w[1] + row(), tensor::of<int32_t>({2}, {extent, extent}));
          return list{w[0] + 1, reshape(matmul(m, m) * 0.0f, {-1})}; // takes a while
        },
        {.name = "products", .shapes = {shape{}, {-1}}})[1];
  });
  auto others = fifo_queue(g, {dtype::i32}, {.shapes = {partial_shape{}}}, "others");
  auto beside = floor_div(1, queue_dequeue(others, {dtype::i32})[0]);
  auto give = g.placeholder(dtype::i32, shape{}, "give");
  auto* put_other = queue_enqueue(others, {give});
  put(s, std::vector<float>(200, 1));
  auto step = s.prepare({x}, {product, beside});
  s.run(put_other, {{give, 1}});
  step.run({ones(extent * extent)}); // all of it is compiled
  for (int i = 0; i < 10; ++i) {
    auto late = step.run_async({ones(extent * extent)});
    std::this_thread::sleep_for(10ms); // by now it multiplies
    s.run(put_other, {{give, 0}});
    CHECK_THAT(failure_of([&] { late.get(); }), Contains("cannot divide"));
  }
}

TEST_CASE_METHOD(nest, "the memory of turns in frames counts as the step's") {
  auto s = session::local();
  auto total = loop([this](edge v) {
    auto large = fill(g, {1 << 18}, row());
    return v + max(large, {0});
  });
  put(s, {1, 1, 1, 1, 1, 1});
  step_statistics found;
  auto sum = s.run({{x, ones(1)}}, {total}, {}, {.statistics = &found});
  CHECK(*sum[0].data<float>() == 7);
  REQUIRE(found.tasks.size() == 1);
  CHECK(found.tasks[0].allocated_bytes >= 6 * mebibyte);
  CHECK(found.tasks[0].peak_bytes >= mebibyte);
  CHECK(found.tasks[0].peak_bytes < 3 * mebibyte);
}

} // namespace troupe::test::loops_insight_test
