// The memory of whole steps: it is released and overwritten in time.
#include "tests/support/catch.hpp"
#include "tests/support/local_world.hpp"
#include "troupe/troupe.hpp"

namespace troupe::test::client_memory_test {

using namespace std::chrono_literals;

namespace {

struct idle_observer final : step_observer {
  void on_step_ended(caf::execution_unit*) noexcept override {}
};

// Runs the step a few times, and returns the memory statistics of the last run.
step_memory_statistics memory_of(local_world& world, const graph& source, step_signature signature,
                                 std::span<const tensor> feeds) {
  auto answer = world.ask<std::shared_ptr<prepared_step>>(
      world.session(), *prepare_request::make(source, signature, world.now() + 10s));
  world.run();
  auto step = answer->value();
  if (!step)
    FAIL(step.status());
  step_memory_statistics statistics;
  idle_observer observer;
  for (uint64_t id = 1; id < 4; ++id) {
    auto running_instance = (*step)->local->check_out();
    running_instance->profile({.times = true});
    running_instance->set_feeds([&](uint32_t index) -> const tensor& { return feeds[index]; });
    running_instance->conductor().begin(id, observer, nullptr);
    world.run();
    if (!running_instance->conductor().outcome())
      FAIL(running_instance->conductor().outcome());
    statistics = running_instance->memory();
    (*step)->local->check_in(std::move(running_instance));
  }
  return statistics;
}

constexpr size_t floats = 4;

} // namespace

TEST_CASE("a chain of element-wise ops needs one buffer, however long it is") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1}, "x");
  edge y = x;
  for (int i = 0; i < 10; ++i)
    y = tanh(y);
  local_world world;
  std::vector<tensor> feeds{tensor::from_values({1000}, std::vector<float>(1000))};
  auto statistics = memory_of(world, y.node->graph(), {.feeds = {x}, .fetches = {y}}, feeds);
  CHECK(statistics.allocations == 1);
  CHECK(statistics.peak == 1000 * floats + 64);
  CHECK(statistics.in_use == statistics.peak); // the result was fetched
}

TEST_CASE("a training step holds its activations and one gradient at a time, and keeps no memory") {
  constexpr int64_t rows = 256, input_size = 64, hidden = 128, class_count = 32;
  graph_builder g;
  auto images = g.placeholder(dtype::f32, {-1, input_size}, "images");
  auto labels = g.placeholder(dtype::i32, {-1}, "labels");
  auto layer = [&](edge from, int64_t rows_of_w, int64_t columns) {
    auto w = g.variable(fill(g, {rows_of_w, columns}, 0.01f));
    auto b = g.variable(fill(g, {columns}, 0.0f));
    return bias_add(matmul(from, w), b);
  };
  auto logits = layer(relu(layer(images, input_size, hidden)), hidden, class_count);
  auto loss = mean(sparse_softmax_cross_entropy_with_logits(logits, labels).loss);
  auto* train = gradient_descent{0.01f}.minimize(loss);
  const auto& training_graph = loss.node->graph();
  local_world world;
  memory_of(world, training_graph, {.targets = {g.initializer()}}, {});
  std::vector<tensor> feeds{
      tensor::from_values({rows, input_size}, std::vector<float>(rows * input_size)),
      tensor::from_values({rows}, std::vector<int32_t>(rows))};
  auto statistics =
      memory_of(world, training_graph, {.feeds = {images, labels}, .targets = {train}}, feeds);
  CHECK(statistics.in_use == 0);
  // The hidden layer once, overwritten by its bias and Relu; its gradient, overwritten by that of
  // Relu; logits and their gradient; the larger gradient of a matrix; and small tensors.
  auto needed = (2 * rows * hidden + 2 * rows * class_count + input_size * hidden) * floats;
  CHECK(statistics.peak <= needed + needed / 8);
}

} // namespace troupe::test::client_memory_test
