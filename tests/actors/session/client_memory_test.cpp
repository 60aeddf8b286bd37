// What whole steps take: that memory is released and written over in time.
#include "tests/support/catch.hpp"
#include "tests/support/local_world.hpp"
#include "troupe/troupe.hpp"

namespace troupe::test::client_memory_test {

using namespace std::chrono_literals;

namespace {

struct silent final : step_observer {
  void step_ended(caf::execution_unit*) noexcept override {}
};

// Runs the step a few times; what the last one took.
step_memory_statistics memory_of(local_world& world, const graph& of, step_signature signature,
                                 std::span<const tensor> feeds) {
  auto box = world.ask<std::shared_ptr<prepared_step>>(
      world.session(), *prepare_request::make(of, signature, world.now() + 10s));
  world.run();
  auto step = box->value();
  if (!step)
    FAIL(step.status());
  step_memory_statistics taken;
  silent observer;
  for (uint64_t id = 1; id < 4; ++id) {
    auto in = (*step)->local->check_out();
    in->watch({.times = true});
    in->set_feeds([&](uint32_t index) -> const tensor& { return feeds[index]; });
    in->conductor().begin(id, observer, nullptr);
    world.run();
    if (!in->conductor().outcome())
      FAIL(in->conductor().outcome());
    taken = in->memory();
    (*step)->local->check_in(std::move(in));
  }
  return taken;
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
  std::vector<tensor> feeds{tensor::of({1000}, std::vector<float>(1000))};
  auto taken = memory_of(world, y.node->graph(), {.feeds = {x}, .fetches = {y}}, feeds);
  CHECK(taken.allocations == 1);
  CHECK(taken.peak == 1000 * floats + 64);
  CHECK(taken.in_use == taken.peak); // it was fetched
}

TEST_CASE("a training step holds its activations and one gradient at a time, and leaves nothing") {
  constexpr int64_t rows = 256, in = 64, hidden = 128, out = 32;
  graph_builder g;
  auto images = g.placeholder(dtype::f32, {-1, in}, "images");
  auto labels = g.placeholder(dtype::i32, {-1}, "labels");
  auto layer = [&](edge from, int64_t rows_of_w, int64_t columns) {
    auto w = g.variable(fill(g, {rows_of_w, columns}, 0.01f));
    auto b = g.variable(fill(g, {columns}, 0.0f));
    return bias_add(matmul(from, w), b);
  };
  auto logits = layer(relu(layer(images, in, hidden)), hidden, out);
  auto loss = mean(sparse_softmax_cross_entropy_with_logits(logits, labels).loss);
  auto* train = gradient_descent{0.01f}.minimize(loss);
  const auto& all = loss.node->graph();
  local_world world;
  memory_of(world, all, {.targets = {g.initializer()}}, {});
  std::vector<tensor> feeds{tensor::of({rows, in}, std::vector<float>(rows * in)),
                            tensor::of({rows}, std::vector<int32_t>(rows))};
  auto taken = memory_of(world, all, {.feeds = {images, labels}, .targets = {train}}, feeds);
  CHECK(taken.in_use == 0);
  // The hidden layer once, written over by its bias and Relu; its gradient, written over by that of
  // Relu; logits and their gradient; the larger gradient of a matrix; and small ones.
  auto needed = (2 * rows * hidden + 2 * rows * out + in * hidden) * floats;
  CHECK(taken.peak <= needed + needed / 8);
}

} // namespace troupe::test::client_memory_test
