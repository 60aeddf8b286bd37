// Replicas on several tasks train together, and continue without lost tasks.
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/troupe.hpp"

#include <random>

namespace troupe::test::task_training_test {

using namespace std::chrono_literals;

namespace {

constexpr int64_t batch = 12, features = 6, classes = 3;

std::vector<std::string> devices_of(std::initializer_list<int> workers) {
  std::vector<std::string> names;
  for (auto i : workers)
    names.push_back(concat("/job:worker/task:", i, "/cpu:0"));
  return names;
}

// A network of two layers on each of several devices.
struct network {
  graph_builder g;
  edge images = g.placeholder(dtype::f32, {batch, features}, "images"),
       labels = g.placeholder(dtype::i32, {batch}, "labels");
  data_parallel_training training;
  std::mt19937 engine{7};

  explicit network(const std::vector<std::string>& devices, int64_t bucket_bytes = 64 << 10)
      : training(train_data_parallel(
            g, devices,
            [&](const replica& context) {
              auto hidden = dense(g, context.slice_of(images), 40, {.activation = troupe::tanh});
              hidden = dense(g, hidden, 40, {.activation = troupe::tanh});
              return softmax_loss(dense(g, hidden, classes), context.slice_of(labels));
            },
            [] { return std::make_unique<momentum>(0.01); }, {.bucket_bytes = bucket_bytes})) {}

  // Assigns the same numbers to the first replica, and copies them to the others.
  void begin(session& s) {
    s.run(g.initializer());
    std::vector<feed> feeds;
    std::vector<target> assign_targets;
    for (const auto& variable : training.variables[0])
      if (variable.name().find("momentum") == std::string::npos) {
        auto value = g.placeholder(dtype::f32, variable.dims());
        std::mt19937 initial_engine{static_cast<unsigned>(variable.dims().elements())};
        std::normal_distribution<float> normal{0, 0.3f};
        std::vector<float> values(static_cast<size_t>(variable.dims().elements()));
        for (auto& v : values)
          v = normal(initial_engine);
        auto placement = g.on(variable.ref.node->device());
        assign_targets.push_back(assign(variable, value));
        feeds.push_back({value, tensor::from_values(variable.dims().known(), values)});
      }
    s.run(feeds, {}, assign_targets);
    s.run(training.synchronize);
  }

  std::vector<tensor> examples() {
    std::normal_distribution<float> normal;
    std::vector<float> pixels;
    std::vector<int32_t> digits;
    for (int64_t i = 0; i < batch; ++i) {
      digits.push_back(static_cast<int32_t>(engine() % classes));
      for (int64_t k = 0; k < features; ++k)
        pixels.push_back(normal(engine) + static_cast<float>(k % classes == digits.back()));
    }
    return {tensor::from_values(shape{batch, features}, pixels), tensor::vector(digits)};
  }

  float step(session& s, const data_parallel_step& tested_step, const run_options& options = {}) {
    auto feeds = examples();
    return to_scalar<float>(s.run({{images, feeds[0]}, {labels, feeds[1]}}, {tested_step.loss},
                                  {tested_step.train}, options)
                                .front());
  }
  // The mean loss of that many steps, each with other examples.
  float mean_of_steps(session& s, const data_parallel_step& tested_step, int count) {
    float sum = 0;
    for (int i = 0; i < count; ++i)
      sum += step(s, tested_step);
    return sum / static_cast<float>(count);
  }
  data_parallel_step step_of_all() const {
    return {training.train, training.synchronize, training.loss};
  }

  std::vector<tensor> variables(session& s, size_t replica) {
    std::vector<edge> refs{training.variables[replica].begin(), training.variables[replica].end()};
    return s.run({}, refs);
  }
  bool are_alike(session& s, std::initializer_list<size_t> replicas) {
    auto first = variables(s, *replicas.begin());
    for (auto i : replicas) {
      auto other_values = variables(s, i);
      if (!std::ranges::equal(first, other_values, identical))
        return false;
    }
    return true;
  }
};

} // namespace

TEST_CASE("replicas on several tasks learn the same as one device, and stay equal to the bit") {
  watchdog watch;
  auto cluster = make_cluster(3);
  std::vector<std::unique_ptr<task>> tasks;
  for (int i = 0; i < 3; ++i)
    tasks.push_back(start_task(cluster, {"worker", i}));
  std::vector<float> expected;
  std::vector<tensor> learned;
  {
    auto s = session::local();
    network single_net{{"/cpu:0"}};
    single_net.begin(s);
    for (int i = 0; i < 12; ++i)
      expected.push_back(single_net.step(s, single_net.step_of_all()));
    learned = single_net.variables(s, 0);
  }
  for (auto bytes : {0, 8192, 1 << 20}) {
    auto s = session::connect(cluster, {.container = concat("of_", bytes)});
    network three{devices_of({0, 1, 2}), bytes};
    three.begin(s);
    for (auto loss : expected)
      CHECK(three.step(s, three.step_of_all()) == Approx(loss).epsilon(1e-4));
    CHECK(three.are_alike(s, {0, 1, 2}));
    auto third_values = three.variables(s, 2);
    REQUIRE(third_values.size() == learned.size());
    for (size_t v = 0; v < third_values.size(); ++v)
      for (int64_t k = 0; k < third_values[v].elements(); ++k)
        REQUIRE(third_values[v].data<float>()[k] ==
                Approx(learned[v].data<float>()[k]).epsilon(1e-3).margin(1e-4));
  }
}

TEST_CASE("replicas stay equal where gradients and variables are sent with half of their bits") {
  watchdog watch;
  auto cluster = make_cluster(2);
  auto a = start_task(cluster, {"worker", 0}), b = start_task(cluster, {"worker", 1});
  auto s = session::connect(cluster, {.cluster = {.transfer_precision = f32_transfer::rounded}});
  network two{devices_of({0, 1})};
  two.begin(s);
  CHECK(two.are_alike(s, {0, 1}));
  float first = two.step(s, two.step_of_all()), last = 0;
  for (int i = 0; i < 40; ++i)
    last = two.step(s, two.step_of_all());
  CHECK(last < first);
  CHECK(two.are_alike(s, {0, 1}));
}

TEST_CASE("training continues without a task that ended, and with it when it returns") {
  watchdog watch;
  auto cluster = make_cluster(3);
  std::vector<std::unique_ptr<task_process>> workers;
  for (int i = 0; i < 3; ++i)
    workers.push_back(std::make_unique<task_process>(cluster, task_name{"worker", i}));
  auto s = session::connect(cluster);
  network net{devices_of({0, 1, 2})};
  net.begin(s);
  for (int i = 0; i < 3; ++i)
    net.step(s, net.step_of_all());
  workers[0]->kill(); // the worker whose variables the others had copied
  auto killed = std::chrono::steady_clock::now();
  try {
    // The step would wait until the task returns.
    net.step(s, net.step_of_all(), {.timeout = 2s * timeout_factor()});
    FAIL("a step of three ended well on two");
  } catch (const error& e) {
    CHECK(e.kind() == error_kind::unavailable);
    CHECK_THAT(e.what(), Catch::Contains("/job:worker/task:0"));
  }
  auto remaining = net.training.step_of(devices_of({1, 2}));
  s.run(remaining.synchronize);
  auto first = net.mean_of_steps(s, remaining, 5);
  CHECK(std::chrono::steady_clock::now() - killed < 10s * timeout_factor());
  net.mean_of_steps(s, remaining, 60);
  auto last = net.mean_of_steps(s, remaining, 20);
  CHECK(last < first);
  CHECK(net.are_alike(s, {1, 2}));
  // The task has returned without variables.
  workers[0] = std::make_unique<task_process>(cluster, task_name{"worker", 0});
  auto regrown = net.training.step_of(devices_of({1, 2, 0}));
  CHECK(regrown.train == net.training.train);
  CHECK(regrown.synchronize != net.training.synchronize);
  s.run(regrown.synchronize);
  CHECK(net.are_alike(s, {0, 1, 2}));
  auto before = net.variables(s, 0);
  net.step(s, regrown);
  CHECK(net.are_alike(s, {0, 1, 2}));
  CHECK_FALSE(std::ranges::equal(before, net.variables(s, 0), identical));
  // The same for one worker alone.
  auto lone_step = net.training.step_of(devices_of({2}));
  workers[0]->kill();
  workers[1]->kill();
  s.run(lone_step.synchronize);
  net.mean_of_steps(s, lone_step, 60);
  CHECK(net.mean_of_steps(s, lone_step, 20) < first);
}

TEST_CASE("a step among some replicas learns the mean of those replicas only") {
  watchdog watch;
  auto s = session::local();
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {1}, "x");
  auto training = train_data_parallel(
      g, {"/cpu:0"},
      [&](const replica&) { return sum(g.variable(tensor::vector<float>({1}), "w") * x); },
      [] { return std::make_unique<gradient_descent>(1.0); });
  CHECK_THROWS_WITH(training.step_of({}), Catch::Contains("at least one device"));
  CHECK_THROWS_WITH(training.step_of({"/cpu:1"}),
                    Catch::Contains("no replica is on '/cpu:1'") && Catch::Contains("/cpu:0"));
  CHECK_THROWS_WITH(training.step_of({"/cpu:0", "/cpu:0"}), Catch::Contains("twice"));
  CHECK(training.step_of({"/cpu:0"}).train == training.train);
  CHECK_THROWS_WITH(data_parallel_training{}.step_of({"/cpu:0"}),
                    Catch::Contains("it was not made by train_data_parallel()"));

  // Each replica has a gradient of its own: its number.
  auto cluster = make_cluster(3);
  std::vector<std::unique_ptr<task>> tasks;
  for (int i = 0; i < 3; ++i)
    tasks.push_back(start_task(cluster, {"worker", i}));
  auto c = session::connect(cluster);
  graph_builder m;
  auto three = train_data_parallel(
      m, devices_of({0, 1, 2}),
      [&](const replica& context) {
        return sum(m.variable(tensor::vector<float>({0}), "w") *
                   static_cast<float>(context.index()));
      },
      [] { return std::make_unique<gradient_descent>(1.0); });
  c.run(m.initializer());
  c.run(three.step_of(devices_of({2, 0})).train);
  CHECK(c.fetch(three.variables[0][0]).values<float>()[0] == -1);
  CHECK(c.fetch(three.variables[1][0]).values<float>()[0] == 0);
  CHECK(c.fetch(three.variables[2][0]).values<float>()[0] == -1);
  c.run(three.step_of(devices_of({2, 1})).train);
  CHECK(c.fetch(three.variables[1][0]).values<float>()[0] == -1.5f);
  c.run(three.step_of(devices_of({1, 2, 0})).synchronize);
  CHECK(c.fetch(three.variables[0][0]).values<float>()[0] == -1.5f);

  // If the model exchanges tensors itself, all replicas are needed.
  graph_builder joint_graph;
  std::vector<edge> parts;
  for (const auto& device : devices_of({0, 1})) {
    auto placement = joint_graph.on(device);
    parts.push_back(identity(joint_graph.constant(1.0f)));
  }
  auto sums = all_reduce(parts);
  auto two = train_data_parallel(
      joint_graph, devices_of({0, 1}),
      [&](const replica& context) {
        return sum(joint_graph.variable(tensor::vector<float>({0}), "w") *
                   sums[static_cast<size_t>(context.index())]);
      },
      [] { return std::make_unique<gradient_descent>(1.0); });
  CHECK_THROWS_WITH(two.step_of(devices_of({1})), Catch::Contains("all of them are needed"));
}

} // namespace troupe::test::task_training_test
