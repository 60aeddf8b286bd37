// What may be gone, reset or declared anew while steps that know it still run.
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/troupe.hpp"

namespace troupe::test::lifetime_test {

TEST_CASE("a prepared step does not need the graph that it was made of") {
  watchdog watch;
  auto s = session::local();
  auto make = [&] {
    graph_builder g;
    auto x = g.placeholder(dtype::f32, {2}, "x");
    auto w = g.variable({1.0f, 2.0f}, "w");
    s.run(g.initializer());
    return s.prepare({x}, {x + w.ref});
  };
  auto step = make();
  std::vector<std::unique_ptr<graph_builder>> over_its_memory;
  for (int i = 0; i < 20; ++i) {
    over_its_memory.push_back(std::make_unique<graph_builder>());
    over_its_memory.back()->constant(tensor::of<float>({2}, {7, 7}));
  }
  CHECK(step.run({tensor::of<float>({2}, {1, 1})})[0].values<float>()[1] == 3);
  CHECK(step.run({{"x", tensor::of<float>({2}, {1, 1})}})[0].values<float>()[0] == 2);
  try {
    step.run({tensor::scalar(1.0f)});
    FAIL("a feed of another shape was taken");
  } catch (const error& e) {
    CHECK(std::string{e.what()}.find("Placeholder 'x'") != std::string::npos);
    CHECK(std::string{e.what()}.find("must be fed with f32[2], got f32[]") != std::string::npos);
  }
}

TEST_CASE("a variable is one for all steps of its name, before a reset and after") {
  watchdog watch;
  auto s = session::local();
  graph_builder g;
  auto v = g.variable(1.0f, "v");
  auto more = assign_add(v.ref, 1.0f);
  auto old = s.prepare({}, {v.ref}, {});
  s.run(g.initializer());
  s.reset();
  s.run(g.initializer());                      // compiled before the reset
  CHECK(to_scalar<float>(s.fetch(more)) == 2); // and this after
  CHECK(to_scalar<float>(old.run()[0]) == 2);
}

TEST_CASE("a variable that is declared otherwise after a reset ends the steps that knew it") {
  watchdog watch;
  auto s = session::local();
  graph_builder one, other;
  auto v = one.variable(1.0f, "v");
  s.run(one.initializer());
  auto old = s.prepare({}, {v.ref}, {});
  s.reset();
  auto again = other.variable({1.0f, 2.0f}, "v");
  s.run(other.initializer());
  CHECK(s.fetch(again.ref).dims() == shape{2});
  try {
    old.run();
    FAIL("a step read a variable that is no more");
  } catch (const error& e) {
    CHECK(e.kind() == error_kind::aborted);
    CHECK(std::string{e.what()}.find(
              "variable 'v' was reset and is declared otherwise since: prepare the step again") !=
          std::string::npos);
  }
}

TEST_CASE("what another client resets and declares otherwise costs a run, not the session") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto worker = start_task(cluster, {"worker", 0});
  auto mine = session::connect(cluster), theirs = session::connect(cluster);
  graph_builder one, other;
  auto v = one.variable(1.0f, "v"), u = one.variable(5.0f, "u");
  auto both = std::vector<edge>{v.ref, u.ref};
  mine.run(one.initializer());
  CHECK(to_scalar<float>(mine.run({}, both)[0]) == 1);
  theirs.reset();
  auto again = other.variable({1.0f, 2.0f}, "v");
  theirs.run(other.initializer());
  CHECK(theirs.fetch(again.ref).dims() == shape{2});
  try {
    mine.run({}, both); // compiled before
    FAIL("a variable that is no more was read");
  } catch (const error& e) {
    CHECK(e.kind() == error_kind::aborted);
    CHECK(e.task() == "/job:worker/task:0");
  }
  try {
    mine.run({}, both); // compiled anew
    FAIL("a variable of another shape was read");
  } catch (const error& e) {
    CHECK(std::string{e.what()}.find("variable 'v' exists as f32[2]") != std::string::npos);
  }
  theirs.reset();
  mine.run(one.initializer());
  CHECK(to_scalar<float>(mine.run({}, both)[1]) == 5);
}

TEST_CASE("two graphs that mean different queues by one name are told so") {
  watchdog watch;
  auto s = session::local();
  graph_builder one, other;
  auto a = fifo_queue(one, {dtype::i8}, {.shapes = {{4}}});
  auto b = fifo_queue(other, {dtype::f64}, {.shapes = {{4}}});
  s.run(queue_enqueue(a, {one.constant(*tensor::make(dtype::i8, {4}))}));
  auto get = queue_dequeue(b, {dtype::f64})[0];
  try {
    s.fetch(get);
    FAIL("bytes were read as doubles");
  } catch (const error& e) {
    CHECK(std::string{e.what()}.find("queue 'FIFOQueue' exists as (i8[4]) of capacity -1, and is "
                                     "declared again as (f64[4]) of capacity -1") !=
          std::string::npos);
  }
}

TEST_CASE("a reset empties queues for steps from before and after") {
  watchdog watch;
  auto s = session::local();
  graph_builder g;
  auto q = fifo_queue(g, {dtype::i32}, {.shapes = {{}}});
  auto put = queue_enqueue(q, {g.constant(7)});
  auto size = queue_size(q);
  auto put_step = s.prepare({}, {}, {put});
  put_step.run();
  put_step.run();
  CHECK(to_scalar<int32_t>(s.fetch(size)) == 2);
  s.reset();
  put_step.run();
  CHECK(to_scalar<int32_t>(s.fetch(size)) == 1);
}

} // namespace troupe::test::lifetime_test
