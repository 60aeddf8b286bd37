#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/troupe.hpp"

#include <optional>

#include <sys/wait.h>

namespace troupe::test::random_seed_test {

namespace {

// Random ops of several kinds, in a graph that is built the same way each time.
struct drawing {
  graph_builder g;
  edge uniform, normal, seeded, shuffled;
  variable_handle w;

  explicit drawing(std::optional<int64_t> seed) {
    if (seed)
      g.set_random_seed(*seed);
    uniform = random_uniform(g, {50}, dtype::f32);
    normal = random_standard_normal(g, {50}, dtype::f32);
    seeded = random_uniform(g, {50}, dtype::f32, {.seed = 5});
    shuffled = random_shuffle(g, tensor::vector(std::vector<float>(50, 1)), {.seed2 = 3});
    w = g.variable(initializers::glorot_uniform()(g, {5, 10}, dtype::f32, {}), "w");
  }

  std::vector<tensor> draw(session s = session::local()) {
    s.run(g.initializer());
    auto values = s.run({}, {uniform, normal, seeded, w});
    values.push_back(s.fetch(uniform));
    return values;
  }
};

void check_same(const std::vector<tensor>& a, const std::vector<tensor>& b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    INFO("result " << i);
    CHECK(identical(a[i], b[i]));
  }
}

} // namespace

TEST_CASE("a graph's seed makes its random numbers repeat in another session") {
  drawing first{7}, second{7};
  auto first_values = first.draw();
  check_same(first.draw(), first_values);
  check_same(second.draw(), first_values);
}

TEST_CASE("a graph's seed makes its random numbers repeat on another task") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto worker = start_task(cluster, {"worker", 0});
  auto first_values = drawing{7}.draw();
  check_same(drawing{7}.draw(session::connect(cluster)), first_values);
  check_same(drawing{7}.draw(session::connect(cluster)), first_values); // the task is the same
}

TEST_CASE("a session continues the random numbers of another, on tasks as well") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto worker = start_task(cluster, {"worker", 0});
  auto on_task = GENERATE(false, true);
  auto seed = GENERATE(std::optional<int64_t>{}, std::optional<int64_t>{7});
  INFO("on a task: " << on_task << ", seed: " << seed.value_or(0));
  auto begin = [&] { return on_task ? session::connect(cluster) : session::local(); };
  auto numbers = [](session& s, drawing& drawn) {
    return s.run({}, {drawn.uniform, drawn.normal, drawn.seeded, drawn.shuffled});
  };
  drawing first_drawing{seed}, second_drawing{seed};
  auto first = begin();
  CHECK(first.random_state().size() == (on_task ? 0 : 1)); // no task takes part yet
  numbers(first, first_drawing);
  auto positions = first.random_state();
  REQUIRE(positions.size() == 1);
  CHECK(positions[0].task == (on_task ? "/job:worker/task:0" : "/job:local/task:0"));
  CHECK((positions[0].incarnation != 0) == on_task);
  REQUIRE(positions[0].positions.size() == 4);
  CHECK(first.random_state({positions[0].task}).size() == 1);
  CHECK(first.random_state({"/job:ps/task:3"}).empty());
  auto expected = numbers(first, first_drawing);

  SECTION("before its nodes have run") {
    auto second = begin();
    second.restore_random_state(positions[0].positions);
    check_same(numbers(second, second_drawing), expected);
    CHECK(second.random_state()[0].positions == first.random_state()[0].positions);
  }
  SECTION("after they have run") {
    auto second = begin();
    numbers(second, second_drawing);
    numbers(second, second_drawing);
    second.restore_random_state(positions[0].positions);
    check_same(numbers(second, second_drawing), expected);
  }
  SECTION("an invalid position is an error that names the node") {
    auto second = begin();
    auto wrong_node = positions[0].positions;
    wrong_node.begin()->second = "1 2";
    numbers(second, second_drawing);
    CHECK_THROWS_WITH(second.restore_random_state(wrong_node),
                      Catch::Contains(wrong_node.begin()->first) &&
                          Catch::Contains("three numbers, got '1 2'"));
    auto third = begin();
    third.restore_random_state(wrong_node);
    CHECK_THROWS_WITH(numbers(third, first_drawing), Catch::Contains(wrong_node.begin()->first));
    third.restore_random_state(positions[0].positions);
    check_same(numbers(third, first_drawing), expected);
  }
}

TEST_CASE("a task that does not answer with its random positions is waited for two seconds") {
  watchdog watch;
  auto cluster = make_cluster(2);
  auto first = start_task(cluster, {"worker", 0});
  task_process second{cluster, {"worker", 1}};
  auto s = session::connect(cluster);
  graph_builder g;
  std::vector<edge> numbers;
  for (int i = 0; i < 2; ++i) {
    auto placement = g.on(concat("/job:worker/task:", i));
    numbers.push_back(random_uniform(g, {3}, dtype::f32));
  }
  s.run({}, numbers);
  CHECK(s.random_state().size() == 2);
  second.freeze();
  REQUIRE(becomes_true([&] { // it may still answer for a moment
    int state = 0;
    return ::waitpid(second.pid(), &state, WUNTRACED | WNOHANG) == second.pid() &&
           WIFSTOPPED(state);
  }));
  auto begin = std::chrono::steady_clock::now();
  auto task_positions = s.random_state();
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{8});
  REQUIRE(task_positions.size() == 1);
  CHECK(task_positions[0].task == "/job:worker/task:0");
  begin = std::chrono::steady_clock::now();
  CHECK(s.random_state({"/job:worker/task:0"}).size() == 1);
  // The task was not asked.
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::milliseconds{1900});
  second.kill();
}

TEST_CASE("more positions than a task keeps are refused") {
  kernel_positions too_many;
  for (int i = 0; i < 70'000; ++i)
    too_many[concat("node", i)] = "1 2 3";
  CHECK_THROWS_WITH(session::local().restore_random_state(too_many),
                    Catch::Contains("70000 positions"));
}

TEST_CASE("under a graph's seed, each op draws numbers of its own") {
  graph_builder g;
  g.set_random_seed(7);
  auto a = random_uniform(g, {50}, dtype::f32), b = random_uniform(g, {50}, dtype::f32);
  auto s = session::local();
  auto values = s.run({}, {a, b});
  CHECK_FALSE(identical(values[0], values[1]));
  CHECK_FALSE(identical(values[0], s.fetch(a))); // each run draws other numbers
}

TEST_CASE("another seed of the graph gives other numbers, except to ops with a seed of their own") {
  auto a = drawing{7}.draw(), b = drawing{8}.draw(), without = drawing{std::nullopt}.draw();
  for (size_t i : {0, 1, 3}) {
    CHECK_FALSE(identical(a[i], b[i]));
    CHECK_FALSE(identical(a[i], without[i]));
  }
  CHECK(identical(a[2], b[2]));
  CHECK(identical(a[2], without[2]));
}

TEST_CASE("a graph's seed is stored in the attributes of ops without a seed, and in no others") {
  drawing drawn{0};
  CHECK(drawn.uniform.node->attr<int64_t>("seed") == 0);
  CHECK(drawn.uniform.node->attr<int64_t>("seed2") == 1); // after its shape
  CHECK(drawn.seeded.node->attr<int64_t>("seed") == 5);
  CHECK(drawn.seeded.node->attr<int64_t>("seed2") == 0);
  CHECK(drawn.shuffled.node->attr<int64_t>("seed") == 0);
  CHECK(drawn.shuffled.node->attr<int64_t>("seed2") == 3);
  auto* added = *drawn.g.add({.op = "RandomUniform",
                              .inputs = {drawn.uniform.node->inputs()[0]},
                              .attrs = {{"dtype", dtype::f64}}});
  CHECK(added->attr<int64_t>("seed2") == added->id());
}

TEST_CASE("without any seed the numbers differ in each session") {
  drawing drawn{std::nullopt};
  CHECK_FALSE(identical(drawn.draw()[0], drawn.draw()[0]));
}

TEST_CASE("in one session, equal nodes with the same name share numbers") {
  graph_builder a, b, c;
  auto uniform_a = random_uniform(a, {50}, dtype::f32, {.seed = 7}, "x");
  auto uniform_b = random_uniform(b, {50}, dtype::f32, {.seed = 7}, "x");
  auto normal_c = truncated_normal(c, {50}, dtype::f32, {.seed = 7}, "x");
  auto s = session::local(), t = session::local();
  auto first = t.fetch(uniform_a), second = t.fetch(uniform_a);
  CHECK(identical(s.fetch(uniform_a), first));
  CHECK(identical(s.fetch(uniform_b), second));
  CHECK(identical(s.fetch(normal_c), session::local().fetch(normal_c)));
}

TEST_CASE("all steps that run a random node draw from one stream") {
  graph_builder g;
  auto x = random_uniform(g, {50}, dtype::f32, {.seed = 7});
  auto y = x * 2;
  auto fresh_session = session::local();
  std::vector<tensor> expected;
  for (int i = 0; i < 5; ++i)
    expected.push_back(fresh_session.fetch(x));

  watchdog watch;
  auto cluster = make_cluster(1);
  auto worker = start_task(cluster, {"worker", 0});
  for (bool local : {true, false}) {
    INFO((local ? "here" : "on a task"));
    auto s = local ? session::local() : session::connect(cluster);
    auto prepared = s.prepare({}, {x});
    CHECK(identical(prepared.run()[0], expected[0]));
    auto results = s.run({}, {y, x}); // another step
    CHECK(identical(results[1], expected[1]));
    CHECK(to_scalar<float>(s.fetch(g.constant(0.0f))) ==
          0);                                  // a step of a larger graph that does not use it
    CHECK(identical(s.fetch(x), expected[2])); // prepared again for the larger graph
    CHECK(identical(prepared.run()[0], expected[3]));
    CHECK(identical(session::local().fetch(x), expected[0])); // another session
    CHECK(identical(s.prepare({}, {x}).run()[0], expected[4]));
  }
}

} // namespace troupe::test::random_seed_test
