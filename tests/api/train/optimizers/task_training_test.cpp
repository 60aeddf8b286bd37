// Replicas on several tasks learn together, and go on without those that are gone.
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

// A network of two layers on each of some devices.
struct network {
  graph_builder g;
  edge images = g.placeholder(dtype::f32, {batch, features}, "images"),
       labels = g.placeholder(dtype::i32, {batch}, "labels");
  data_parallel_training training;
  std::mt19937 dice{7};

  explicit network(const std::vector<std::string>& devices, int64_t bucket_bytes = 64 << 10)
      : training(train_data_parallel(
            g, devices,
            [&](const replica& at) {
              auto hidden = dense(g, at.part_of(images), 40, {.activation = troupe::tanh});
              hidden = dense(g, hidden, 40, {.activation = troupe::tanh});
              return softmax_loss(dense(g, hidden, classes), at.part_of(labels));
            },
            [] { return std::make_unique<momentum>(0.01); }, {.bucket_bytes = bucket_bytes})) {}

  // Always the same numbers in the first replica, and then in all.
  void begin(session& s) {
    s.run(g.initializer());
    std::vector<feed> feeds;
    std::vector<target> given;
    for (const auto& one : training.variables[0])
      if (one.name().find("momentum") == std::string::npos) {
        auto value = g.placeholder(dtype::f32, one.dims());
        std::mt19937 drawn{static_cast<unsigned>(one.dims().elements())};
        std::normal_distribution<float> normal{0, 0.3f};
        std::vector<float> values(static_cast<size_t>(one.dims().elements()));
        for (auto& v : values)
          v = normal(drawn);
        auto on = g.on(one.ref.node->device());
        given.push_back(assign(one, value));
        feeds.push_back({value, tensor::of(one.dims().known(), values)});
      }
    s.run(feeds, {}, given);
    s.run(training.synchronize);
  }

  std::vector<tensor> examples() {
    std::normal_distribution<float> normal;
    std::vector<float> pixels;
    std::vector<int32_t> digits;
    for (int64_t i = 0; i < batch; ++i) {
      digits.push_back(static_cast<int32_t>(dice() % classes));
      for (int64_t k = 0; k < features; ++k)
        pixels.push_back(normal(dice) + static_cast<float>(k % classes == digits.back()));
    }
    return {tensor::of(shape{batch, features}, pixels), tensor::vector(digits)};
  }

  float step(session& s, const data_parallel_step& what, const run_options& options = {}) {
    auto all = examples();
    return to_scalar<float>(
        s.run({{images, all[0]}, {labels, all[1]}}, {what.loss}, {what.train}, options).front());
  }
  // Of so many steps, each with other examples.
  float mean_of_steps(session& s, const data_parallel_step& what, int count) {
    float sum = 0;
    for (int i = 0; i < count; ++i)
      sum += step(s, what);
    return sum / static_cast<float>(count);
  }
  data_parallel_step all() const { return {training.train, training.synchronize, training.loss}; }

  std::vector<tensor> variables(session& s, size_t replica) {
    std::vector<edge> refs{training.variables[replica].begin(), training.variables[replica].end()};
    return s.run({}, refs);
  }
  bool alike(session& s, std::initializer_list<size_t> replicas) {
    auto first = variables(s, *replicas.begin());
    for (auto i : replicas) {
      auto other = variables(s, i);
      if (!std::ranges::equal(first, other, identical))
        return false;
    }
    return true;
  }
};

} // namespace

TEST_CASE("replicas on several tasks learn what one device learns, and stay equal to the bit") {
  watchdog watch;
  auto cluster = make_cluster(3);
  std::vector<std::unique_ptr<task>> tasks;
  for (int i = 0; i < 3; ++i)
    tasks.push_back(start_task(cluster, {"worker", i}));
  std::vector<float> expected;
  std::vector<tensor> learned;
  {
    auto s = session::local();
    network one{{"/cpu:0"}};
    one.begin(s);
    for (int i = 0; i < 12; ++i)
      expected.push_back(one.step(s, one.all()));
    learned = one.variables(s, 0);
  }
  for (auto bytes : {0, 8192, 1 << 20}) {
    auto s = session::connect(cluster, {.container = concat("of_", bytes)});
    network three{devices_of({0, 1, 2}), bytes};
    three.begin(s);
    for (auto loss : expected)
      CHECK(three.step(s, three.all()) == Approx(loss).epsilon(1e-4));
    CHECK(three.alike(s, {0, 1, 2}));
    auto found = three.variables(s, 2);
    REQUIRE(found.size() == learned.size());
    for (size_t v = 0; v < found.size(); ++v)
      for (int64_t k = 0; k < found[v].elements(); ++k)
        REQUIRE(found[v].data<float>()[k] ==
                Approx(learned[v].data<float>()[k]).epsilon(1e-3).margin(1e-4));
  }
}

TEST_CASE("replicas stay alike where gradients and variables travel with half of their bits") {
  watchdog watch;
  auto cluster = make_cluster(2);
  auto a = start_task(cluster, {"worker", 0}), b = start_task(cluster, {"worker", 1});
  auto s = session::connect(cluster, {.cluster = {.between_tasks = f32_transfer::rounded}});
  network two{devices_of({0, 1})};
  two.begin(s);
  CHECK(two.alike(s, {0, 1}));
  float first = two.step(s, two.all()), last = 0;
  for (int i = 0; i < 40; ++i)
    last = two.step(s, two.all());
  CHECK(last < first);
  CHECK(two.alike(s, {0, 1}));
}

TEST_CASE("training goes on without a task that ended, and with it when it is there again") {
  watchdog watch;
  auto cluster = make_cluster(3);
  std::vector<std::unique_ptr<task_process>> workers;
  for (int i = 0; i < 3; ++i)
    workers.push_back(std::make_unique<task_process>(cluster, task_name{"worker", i}));
  auto s = session::connect(cluster);
  network all{devices_of({0, 1, 2})};
  all.begin(s);
  for (int i = 0; i < 3; ++i)
    all.step(s, all.all());
  workers[0]->kill(); // whose variables the others were given
  auto killed = std::chrono::steady_clock::now();
  try {
    // It would wait for the task to come back.
    all.step(s, all.all(), {.timeout = 2s * patience_factor()});
    FAIL("a step of three ended well on two");
  } catch (const error& e) {
    CHECK(e.kind() == error_kind::unavailable);
    CHECK_THAT(e.what(), Catch::Contains("/job:worker/task:0"));
  }
  auto rest = all.training.among(devices_of({1, 2}));
  s.run(rest.synchronize);
  auto first = all.mean_of_steps(s, rest, 5);
  CHECK(std::chrono::steady_clock::now() - killed < 10s * patience_factor());
  all.mean_of_steps(s, rest, 60);
  auto last = all.mean_of_steps(s, rest, 20);
  CHECK(last < first);
  CHECK(all.alike(s, {1, 2}));
  // The task is there again, and has nothing.
  workers[0] = std::make_unique<task_process>(cluster, task_name{"worker", 0});
  auto again = all.training.among(devices_of({1, 2, 0}));
  CHECK(again.train == all.training.train);
  CHECK(again.synchronize != all.training.synchronize);
  s.run(again.synchronize);
  CHECK(all.alike(s, {0, 1, 2}));
  auto before = all.variables(s, 0);
  all.step(s, again);
  CHECK(all.alike(s, {0, 1, 2}));
  CHECK_FALSE(std::ranges::equal(before, all.variables(s, 0), identical));
  // Alone, too.
  auto alone = all.training.among(devices_of({2}));
  workers[0]->kill();
  workers[1]->kill();
  s.run(alone.synchronize);
  all.mean_of_steps(s, alone, 60);
  CHECK(all.mean_of_steps(s, alone, 20) < first);
}

TEST_CASE("a step among replicas learns the mean of theirs alone") {
  watchdog watch;
  auto s = session::local();
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {1}, "x");
  auto training = train_data_parallel(
      g, {"/cpu:0"},
      [&](const replica&) { return sum(g.variable(tensor::vector<float>({1}), "w") * x); },
      [] { return std::make_unique<gradient_descent>(1.0); });
  CHECK_THROWS_WITH(training.among({}), Catch::Contains("at least one device"));
  CHECK_THROWS_WITH(training.among({"/cpu:1"}),
                    Catch::Contains("no replica is on '/cpu:1'") && Catch::Contains("/cpu:0"));
  CHECK_THROWS_WITH(training.among({"/cpu:0", "/cpu:0"}), Catch::Contains("twice"));
  CHECK(training.among({"/cpu:0"}).train == training.train);
  CHECK_THROWS_WITH(data_parallel_training{}.among({"/cpu:0"}),
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
      [&](const replica& at) {
        return sum(m.variable(tensor::vector<float>({0}), "w") * static_cast<float>(at.index()));
      },
      [] { return std::make_unique<gradient_descent>(1.0); });
  c.run(m.initializer());
  c.run(three.among(devices_of({2, 0})).train);
  CHECK(c.fetch(three.variables[0][0]).values<float>()[0] == -1);
  CHECK(c.fetch(three.variables[1][0]).values<float>()[0] == 0);
  CHECK(c.fetch(three.variables[2][0]).values<float>()[0] == -1);
  c.run(three.among(devices_of({2, 1})).train);
  CHECK(c.fetch(three.variables[1][0]).values<float>()[0] == -1.5f);
  c.run(three.among(devices_of({1, 2, 0})).synchronize);
  CHECK(c.fetch(three.variables[0][0]).values<float>()[0] == -1.5f);

  // Where the model exchanges tensors itself, all are needed.
  graph_builder joint;
  std::vector<edge> parts;
  for (const auto& device : devices_of({0, 1})) {
    auto on = joint.on(device);
    parts.push_back(identity(joint.constant(1.0f)));
  }
  auto sums = all_reduce(parts);
  auto two = train_data_parallel(
      joint, devices_of({0, 1}),
      [&](const replica& at) {
        return sum(joint.variable(tensor::vector<float>({0}), "w") *
                   sums[static_cast<size_t>(at.index())]);
      },
      [] { return std::make_unique<gradient_descent>(1.0); });
  CHECK_THROWS_WITH(two.among(devices_of({1})), Catch::Contains("all of them are needed"));
}

} // namespace troupe::test::task_training_test
