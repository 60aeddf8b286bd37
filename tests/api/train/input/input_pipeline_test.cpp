#include "tests/support/catch.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/troupe.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <latch>
#include <map>
#include <numeric>
#include <set>
#include <thread>

namespace troupe::test::input_pipeline_test {

using namespace std::chrono_literals;

namespace {

// The batches that steps fetch until the data ends.
std::vector<std::vector<int>> all_batches(session& s, edge from) {
  std::vector<std::vector<int>> batches;
  try {
    for (;;) {
      auto batch = s.fetch(from);
      auto values = batch.values<int>();
      batches.emplace_back(values.begin(), values.end());
    }
  } catch (const error& thrown) {
    CHECK(thrown.kind() == error_kind::out_of_range);
  }
  return batches;
}

std::vector<int> count_to(int end) {
  std::vector<int> expected_rows(static_cast<size_t>(end));
  std::iota(expected_rows.begin(), expected_rows.end(), 0);
  return expected_rows;
}

} // namespace

TEST_CASE("rows come in order, once in each epoch, and then the data ends") {
  graph_builder g;
  input_pipeline input{g};
  auto row = input.producer(tensor::vector<int>({5, 6, 7}), {.epochs = 2, .shuffle = false});
  auto batch = input.batch({row * 10}, 4, {.allow_smaller_final_batch = true})[0];
  auto s = session::local();
  coordinator coord;
  input.start(s, coord);
  auto result = all_batches(s, batch);
  CHECK(result == std::vector<std::vector<int>>{{50, 60, 70, 50}, {60, 70}});
  coord.join(10s);
  CHECK(coord.running().empty());
  CHECK(!coord.should_stop()); // no stop was requested: the data ended
}

TEST_CASE("an incomplete batch is dropped unless it is requested") {
  graph_builder g;
  input_pipeline input{g};
  auto row = input.producer(tensor::vector<int>({5, 6, 7}), {.epochs = 1, .shuffle = false});
  auto batch = input.batch({row}, 2)[0];
  auto s = session::local();
  coordinator coord;
  input.start(s, coord);
  CHECK(all_batches(s, batch) == std::vector<std::vector<int>>{{5, 6}});
}

TEST_CASE("shuffled rows come equally often, in another order, with several runs at once") {
  for (auto seed : {std::optional<int64_t>{7}, std::optional<int64_t>{}}) {
    graph_builder g;
    input_pipeline input{g};
    auto row = input.producer(tensor::vector(count_to(50)), {.epochs = 3, .seed = seed});
    auto batch = input.shuffle_batch({row}, 6,
                                     {.concurrent_enqueues = 3,
                                      .capacity = 40,
                                      .min_after_dequeue = 20,
                                      .allow_smaller_final_batch = true,
                                      .seed = seed})[0];
    auto s = session::local();
    coordinator coord;
    input.start(s, coord);
    std::map<int, int> often;
    std::vector<int> order;
    for (const auto& row_batch : all_batches(s, batch))
      for (auto value : row_batch) {
        ++often[value];
        order.push_back(value);
      }
    CHECK(order.size() == 150);
    CHECK(often.size() == 50);
    for (auto [value, times] : often)
      CHECK(times == 3);
    CHECK(!std::ranges::is_sorted(order.begin(), order.begin() + 20));
    coord.join(10s);
  }
}

TEST_CASE("batches of batches, and elements of different extents") {
  graph_builder g;
  input_pipeline input{g};
  auto length = input.producer(tensor::vector<int>({1, 3, 2}), {.epochs = 1, .shuffle = false});
  auto row = fill(g, reshape(length, {1}), length);
  auto padded = input.batch({row}, 3, {.dynamic_pad = true, .shapes = {partial_shape{-1}}})[0];
  auto second_batch = input.batch({reshape(padded, {9})}, 3, {.enqueue_many = true})[0];
  auto s = session::local();
  coordinator coord;
  input.start(s, coord);
  CHECK(all_batches(s, second_batch) ==
        std::vector<std::vector<int>>{{1, 0, 0}, {3, 3, 3}, {2, 2, 0}});
}

TEST_CASE("runners that wait for room end on request") {
  graph_builder g;
  input_pipeline input{g};
  auto row = input.producer(tensor::vector<int>({5, 6, 7}), {.capacity = 2});
  auto batch = input.batch({row}, 2, {.concurrent_enqueues = 4, .capacity = 2})[0];
  auto s = session::local();
  coordinator coord;
  input.start(s, coord);
  for (int i = 0; i < 100; ++i)
    s.fetch(batch);
  CHECK(coord.running().size() == 2);
  CHECK_THROWS_AS(coord.join(50ms), error); // no stop was requested
  coord.request_stop();
  coord.join(5s);
  CHECK(coord.running().empty());
}

TEST_CASE("the first error of a runner stops all, and join reports it") {
  graph_builder g;
  input_pipeline input{g};
  auto row = input.producer(tensor::vector<int>({5, 6, 0, 7}), {.shuffle = false});
  auto checked = [&] {
    auto order = g.after({assert_(greater(row, 0), {row})});
    return identity(row);
  }();
  auto batch = input.batch({checked}, 2)[0];
  auto s = session::local();
  coordinator coord;
  input.start(s, coord);
  CHECK(coord.wait_for_stop(10s));
  CHECK(coord.should_stop());
  try {
    coord.join(10s);
    FAIL("join did not throw");
  } catch (const error& thrown) {
    CHECK(thrown.kind() == error_kind::invalid_argument);
    CHECK(thrown.op() == "Assert");
  }
  CHECK(all_batches(s, batch).size() <= 1); // then the data ends
}

TEST_CASE("a coordinator whose stop is requested before the start runs nothing") {
  graph_builder g;
  input_pipeline input{g};
  input.producer(tensor::vector<int>({5, 6, 7}), {});
  auto s = session::local();
  coordinator coord;
  coord.request_stop(error{error_kind::data_loss, "the disk is gone"});
  coord.request_stop(error{error_kind::internal, "an echo"});
  input.start(s, coord);
  CHECK_THROWS_WITH(coord.join(5s), "the disk is gone");
  CHECK(coord.running().empty());
}

TEST_CASE("a session and a coordinator may be destroyed while runners run") {
  for (bool session_first : {true, false}) {
    graph_builder g;
    input_pipeline input{g};
    auto row = input.producer(tensor::vector<int>({5, 6, 7}), {.capacity = 2});
    auto batch = input.batch({row}, 2, {.concurrent_enqueues = 2})[0];
    auto s = std::make_unique<session>(session::local());
    auto coord = std::make_unique<coordinator>();
    input.start(*s, *coord);
    s->fetch(batch);
    if (session_first)
      s.reset();
    auto begin = std::chrono::steady_clock::now();
    coord.reset();
    s.reset();
    CHECK(std::chrono::steady_clock::now() - begin < 4s);
  }
}

TEST_CASE("threads that suspend runners alternate, and runners pause for each of them") {
  watchdog watch;
  graph_builder g;
  auto number = g.variable(int64_t{0}, "number");
  auto queue = fifo_queue(g, {dtype::i64}, {.shapes = {{}}, .capacity = 100'000'000});
  queue_runner runner{queue, {queue_enqueue(queue, {assign_add(number, int64_t{1})})}};
  auto s = session::local();
  s.run(g.initializer());
  coordinator coord;
  runner.start(s, coord);
  auto runs = [&] { return to_scalar<int64_t>(s.fetch(number)); };
  auto stands_still = [&](std::chrono::milliseconds time) {
    auto before = runs();
    std::this_thread::sleep_for(time);
    return runs() == before;
  };
  std::latch first_is_in{1};
  std::atomic<bool> second_is_in{false};
  auto first = std::async(std::launch::async, [&] {
    coord.run_while_suspended([&] {
      first_is_in.count_down();
      for (int i = 0; i < 300 && !second_is_in; ++i)
        std::this_thread::sleep_for(1ms);
    });
  });
  first_is_in.wait();
  coord.run_while_suspended([&] {
    second_is_in = true;
    CHECK(first.wait_for(10s) == std::future_status::ready);
    CHECK(stands_still(100ms));
    coord.run_while_suspended([&] { CHECK(stands_still(1ms)); });
    CHECK(stands_still(100ms));
  });
  first.get();
  auto before = runs();
  for (int i = 0; i < 10'000 && runs() == before; ++i)
    std::this_thread::sleep_for(1ms);
  CHECK(runs() > before);
}

TEST_CASE("a thread waits until its timeout for another thread that has suspended the runners") {
  watchdog watch;
  coordinator coord;
  std::latch is_in{1};
  std::promise<void> leave;
  auto other_joiner = std::async(std::launch::async, [&] {
    coord.run_while_suspended([&] {
      is_in.count_down();
      leave.get_future().wait();
    });
  });
  is_in.wait();
  try {
    coord.run_while_suspended([] { FAIL("two threads have suspended the runners"); }, 50ms);
    FAIL("run_while_suspended did not throw");
  } catch (const error& thrown) {
    CHECK(thrown.kind() == error_kind::deadline_exceeded);
    CHECK_THAT(thrown.what(), Catch::Contains("another thread"));
  }
  leave.set_value();
  other_joiner.get();
  auto called = false;
  coord.run_while_suspended([&] { called = true; }, 0ms);
  CHECK(called);
}

TEST_CASE("a coordinator may be waited for as long as the longest duration") {
  watchdog watch;
  constexpr auto longest = std::chrono::milliseconds::max();
  graph_builder g;
  input_pipeline input{g};
  input.producer(tensor::vector<int>({5, 6, 7}), {.capacity = 2});
  auto s = session::local();
  coordinator coord;
  input.start(s, coord);
  CHECK_FALSE(coord.wait_for_stop(20ms));
  auto stopped = std::async(std::launch::async, [&] { return coord.wait_for_stop(longest); });
  auto joined = std::async(std::launch::async, [&] { coord.join(longest); });
  CHECK(stopped.wait_for(100ms) == std::future_status::timeout);
  CHECK(joined.wait_for(0ms) == std::future_status::timeout);
  coord.request_stop();
  CHECK(stopped.get());
  joined.get();
  coord.run_while_suspended([] {}, longest);
}

TEST_CASE("join names the runners that have not ended at its timeout") {
  graph_builder g;
  input_pipeline input{g};
  input.producer(tensor::vector<int>({5, 6, 7}), {.capacity = 2}, "rows");
  auto s = session::local();
  coordinator coord;
  input.start(s, coord);
  try {
    coord.join(50ms);
    FAIL("join did not throw");
  } catch (const error& thrown) {
    CHECK(thrown.kind() == error_kind::deadline_exceeded);
    CHECK_THAT(thrown.what(),
               Catch::Contains(coord.running().at(0)) && Catch::Contains("no stop was requested"));
  }
}

TEST_CASE("the destructor of a coordinator takes a few seconds though a runner does not end") {
  watchdog watch;
  graph_builder g;
  auto never_queue = fifo_queue(g, {dtype::f32}), queue = fifo_queue(g, {dtype::f32});
  queue_runner runner{queue, {queue_enqueue(queue, queue_dequeue(never_queue, {dtype::f32}))}};
  auto s = std::make_unique<session>(session::local());
  auto coord = std::make_unique<coordinator>();
  runner.start(*s, *coord);
  auto begin = std::chrono::steady_clock::now();
  coord.reset();
  CHECK(std::chrono::steady_clock::now() - begin < 9s);
  begin = std::chrono::steady_clock::now();
  s.reset(); // the waiting steps end with the reset
  CHECK(std::chrono::steady_clock::now() - begin < 6s);
}

TEST_CASE("a limit counts the runs of all nodes together, and may be what another run had left") {
  graph_builder g;
  auto queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}, .capacity = 100}, "numbers");
  auto *first_put = queue_enqueue(queue, {g.constant(1)}),
       *two = queue_enqueue(queue, {g.constant(2)});
  auto next = queue_dequeue(queue, {dtype::i32})[0];
  queue_runner runner{queue, {first_put, two, two}};
  runner.limit(10);
  auto runs = [&](coordinator& coord_runs) {
    auto s = session::local();
    runner.start(s, coord_runs);
    auto count = all_batches(s, next).size();
    coord_runs.join(10s);
    return count;
  };
  using remaining = std::map<std::string, int64_t>;
  coordinator first, second;
  CHECK(runs(first) == 10);
  CHECK(first.runs_left() == remaining{{"numbers", 0}});
  second.restore_runs_left({{"numbers", 4}, {"others", 7}});
  CHECK(runs(second) == 4);
  runner.limit(0);
  coordinator empty_coord;
  CHECK(runs(empty_coord) == 0);
}

TEST_CASE(
    "rows are shuffled differently in each epoch: alike for one seed, differently without one") {
  auto order = [](std::optional<int64_t> seed) {
    graph_builder g;
    input_pipeline input{g};
    auto row = input.producer(tensor::vector(count_to(20)), {.epochs = 2, .seed = seed});
    auto s = session::local();
    coordinator coord;
    input.start(s, coord);
    std::vector<int> order_found;
    for (const auto& row_batch : all_batches(s, row))
      order_found.push_back(row_batch.at(0));
    coord.join(10s);
    return order_found;
  };
  auto seeded = order(7);
  REQUIRE(seeded.size() == 40);
  std::vector<int> first{seeded.begin(), seeded.begin() + 20},
      second{seeded.begin() + 20, seeded.end()};
  CHECK(first != second);
  for (auto* epoch : {&first, &second}) {
    std::ranges::sort(*epoch);
    CHECK(*epoch == count_to(20));
  }
  CHECK(order(7) == seeded);
  CHECK(order(8) != seeded);
  CHECK(order(0) == order(0));
  CHECK(order({}) != order({})); // one of 20! orders
}

TEST_CASE("a pipeline refuses inputs that it cannot batch") {
  graph_builder g;
  input_pipeline input{g};
  auto x = g.placeholder(dtype::f32, {}, "x");
  CHECK_THROWS_AS(input.batch({}, 2), error);
  CHECK_THROWS_AS(input.batch({x}, 0), error);
  CHECK_THROWS_AS(input.batch({x}, 2, {.dynamic_pad = true}), error);
  CHECK_THROWS_AS(input.producer(1.0f), error);
  CHECK_THROWS_AS(queue_runner(x, {no_op(g)}), error);
  CHECK_THROWS_AS(queue_runner(fifo_queue(g, {dtype::f32}), {}), error);
}

} // namespace troupe::test::input_pipeline_test
