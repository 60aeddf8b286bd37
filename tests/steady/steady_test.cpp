// A step that has run a few times requests no memory from the heap.
#include "tests/steady/heap.hpp"
#include "tests/support/catch.hpp"
#include "troupe/troupe.hpp"

#include <cstdlib>
#include <memory>

namespace troupe::test::steady_test {

namespace {

// Heap requests of many runs, after some that fill pools and caches. The session's clock also
// requests memory every few seconds, so this is the minimum of several rounds, each of which takes
// less than that, also in builds that count lines.
uint64_t requests_of(step& tested, std::span<const tensor> feeds, size_t fetches, int runs = 40) {
  std::vector<tensor> fetched(fetches);
  for (int i = 0; i < 20; ++i)
    tested.run_into(feeds, fetched);
  auto fewest = UINT64_MAX;
  for (int round = 0; round < 3; ++round) {
    auto requests_before = heap_requests();
    for (int i = 0; i < runs; ++i)
      tested.run_into(feeds, fetched);
    fewest = std::min(fewest, heap_requests() - requests_before);
  }
  return fewest;
}

} // namespace

TEST_CASE("heap_requests counts allocations") {
  auto requests_before = heap_requests();
  auto allocation = std::make_unique<std::array<char, 100>>();
  CHECK(allocation->data() != nullptr);
  CHECK((heap_requests() > requests_before) == heap_is_counted);
}

TEST_CASE("a step that forwards its feed requests no heap memory") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, shape{}, "x");
  auto s = session::local();
  auto step = s.prepare({x}, {identity(x)});
  std::vector<tensor> feeds{tensor::scalar(1.0f)};
  CHECK(requests_of(step, feeds, 1) == 0);
}

TEST_CASE("a chain of element-wise ops requests no heap memory, on one thread or several") {
  for (int threads : {1, 4})
    for (int64_t elements : {1, 1000, 1'000'000}) {
      graph_builder g;
      auto x = g.placeholder(dtype::f32, {-1}, "x");
      edge y = x;
      for (int i = 0; i < 10; ++i)
        y = i % 2 ? tanh(y) : y + x;
      auto s = session::local({.threads = {.intra_op = threads}});
      auto step = s.prepare({x}, {y});
      std::vector<tensor> feeds{
          tensor::from_values({elements}, std::vector<float>(static_cast<size_t>(elements)))};
      CAPTURE(threads, elements);
      CHECK(requests_of(step, feeds, 1, elements > 1000 ? 4 : 40) == 0);
    }
}

TEST_CASE("a step that two threads run requests no heap memory") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {300, 300}, "x");
  auto y = x;
  for (int i = 0; i < 3; ++i)
    y = matmul(y, x) + relu(matmul(x, y));
  auto s = session::local({.threads = {.intra_op = 1, .inter_op = 2}});
  auto step = s.prepare({x}, {y});
  std::vector<tensor> feeds{tensor::from_values({300, 300}, std::vector<float>(90'000, 0.001f))};
  CHECK(requests_of(step, feeds, 1) == 0);
}

TEST_CASE("a training step requests no heap memory except in oneDNN's products") {
  graph_builder g;
  auto images = g.placeholder(dtype::f32, {-1, 64}, "images");
  auto labels = g.placeholder(dtype::i32, {-1}, "labels");
  auto layer = [&](edge from, int64_t in, int64_t out) {
    auto w = g.variable(truncated_normal(g, {in, out}, dtype::f32, {.seed = 1}) * 0.1);
    auto b = g.variable(fill(g, {out}, 0.0f));
    return bias_add(matmul(from, w), b);
  };
  auto logits = layer(relu(layer(images, 64, 128)), 128, 10);
  auto loss = mean(sparse_softmax_cross_entropy_with_logits(logits, labels).loss);
  auto* train = gradient_descent{0.01f}.minimize(loss);
  auto s = session::local({.threads = {.intra_op = 1}});
  s.run(g.initializer());
  auto step = s.prepare({images, labels}, {loss}, {train});
  std::vector<int32_t> classes(32);
  for (size_t i = 0; i < classes.size(); ++i)
    classes[i] = static_cast<int32_t>(i % 10);
  std::vector<tensor> feeds{tensor::from_values({32, 64}, std::vector<float>(32 * 64, 0.5f)),
                            tensor::vector(classes)};
  CHECK(requests_of(step, feeds, 1) == 0); // oneDNN writes code in the first runs
  auto requests_before = product_requests();
  CHECK(requests_of(step, feeds, 1) == 0);
  constexpr int runs = 140, products = 5;
  CHECK(product_requests() - requests_before <= 8 * runs * products);
}

} // namespace troupe::test::steady_test
