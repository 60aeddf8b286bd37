// Graphs, variables and containers that end, are reset or redeclared while steps use them.
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/troupe.hpp"

namespace troupe::test::lifetime_test {

TEST_CASE("a prepared step does not need the graph from which it was made") {
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
    over_its_memory.back()->constant(tensor::from_values<float>({2}, {7, 7}));
  }
  CHECK(step.run({tensor::from_values<float>({2}, {1, 1})})[0].values<float>()[1] == 3);
  CHECK(step.run({{"x", tensor::from_values<float>({2}, {1, 1})}})[0].values<float>()[0] == 2);
  try {
    step.run({tensor::scalar(1.0f)});
    FAIL("a feed of another shape was taken");
  } catch (const error& e) {
    CHECK(std::string{e.what()}.find("Placeholder 'x'") != std::string::npos);
    CHECK(std::string{e.what()}.find("must be fed with f32[2], got f32[]") != std::string::npos);
  }
}

TEST_CASE("a variable is shared by all steps with its name, before a reset and after") {
  watchdog watch;
  auto s = session::local();
  graph_builder g;
  auto v = g.variable(1.0f, "v");
  auto incremented = assign_add(v.ref, 1.0f);
  auto old = s.prepare({}, {v.ref}, {});
  s.run(g.initializer());
  s.reset();
  s.run(g.initializer());                             // compiled before the reset
  CHECK(to_scalar<float>(s.fetch(incremented)) == 2); // and this one after it
  CHECK(to_scalar<float>(old.run()[0]) == 2);
}

TEST_CASE("a variable that is redeclared after a reset ends the steps that used the old one") {
  watchdog watch;
  auto s = session::local();
  graph_builder first_graph, second_graph;
  auto v = first_graph.variable(1.0f, "v");
  s.run(first_graph.initializer());
  auto old = s.prepare({}, {v.ref}, {});
  s.reset();
  auto redeclared = second_graph.variable({1.0f, 2.0f}, "v");
  s.run(second_graph.initializer());
  CHECK(s.fetch(redeclared.ref).dims() == shape{2});
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

TEST_CASE("a reset and redeclaration by another client costs one run, not the session") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto worker = start_task(cluster, {"worker", 0});
  auto first_session = session::connect(cluster), second_session = session::connect(cluster);
  graph_builder first_graph, second_graph;
  auto v = first_graph.variable(1.0f, "v"), u = first_graph.variable(5.0f, "u");
  auto both_edges = std::vector<edge>{v.ref, u.ref};
  first_session.run(first_graph.initializer());
  CHECK(to_scalar<float>(first_session.run({}, both_edges)[0]) == 1);
  second_session.reset();
  auto redeclared = second_graph.variable({1.0f, 2.0f}, "v");
  second_session.run(second_graph.initializer());
  CHECK(second_session.fetch(redeclared.ref).dims() == shape{2});
  try {
    first_session.run({}, both_edges); // compiled before
    FAIL("a variable that is no more was read");
  } catch (const error& e) {
    CHECK(e.kind() == error_kind::aborted);
    CHECK(e.task() == "/job:worker/task:0");
  }
  try {
    first_session.run({}, both_edges); // compiled again
    FAIL("a variable of another shape was read");
  } catch (const error& e) {
    CHECK(std::string{e.what()}.find("variable 'v' exists as f32[2]") != std::string::npos);
  }
  second_session.reset();
  first_session.run(first_graph.initializer());
  CHECK(to_scalar<float>(first_session.run({}, both_edges)[1]) == 5);
}

TEST_CASE("two graphs that declare different queues with one name get an error") {
  watchdog watch;
  auto s = session::local();
  graph_builder first_graph, second_graph;
  auto a = fifo_queue(first_graph, {dtype::i8}, {.shapes = {{4}}});
  auto b = fifo_queue(second_graph, {dtype::f64}, {.shapes = {{4}}});
  s.run(queue_enqueue(a, {first_graph.constant(*tensor::make(dtype::i8, {4}))}));
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
  auto enqueue = queue_enqueue(q, {g.constant(7)});
  auto size = queue_size(q);
  auto put_step = s.prepare({}, {}, {enqueue});
  put_step.run();
  put_step.run();
  CHECK(to_scalar<int32_t>(s.fetch(size)) == 2);
  s.reset();
  put_step.run();
  CHECK(to_scalar<int32_t>(s.fetch(size)) == 1);
}

} // namespace troupe::test::lifetime_test
