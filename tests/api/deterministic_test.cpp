#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/troupe.hpp"

#include <random>

namespace troupe::test::deterministic_test {

namespace {

tensor noise(const shape& dims, unsigned seed) {
  auto result = tensor::make(dtype::f32, dims);
  REQUIRE(result);
  std::mt19937 random{seed};
  std::uniform_real_distribution<float> distribution{-1, 1};
  for (auto& x : result->values<float>())
    x = distribution(random);
  return *result;
}

// Large enough that each kernel's loop is split over all threads, with extents that are no multiple
// of a vector or of a thread count.
constexpr int64_t batch = 257, inputs = 1003, hidden = 517, classes = 11;

struct model {
  graph_builder g;
  edge x, labels, loss, w1, w2, noise_of;
  node *train, *initializer;

  model() {
    x = g.placeholder(dtype::f32, {-1, inputs}, "x");
    labels = g.placeholder(dtype::i32, {-1}, "labels");
    w1 = g.variable(truncated_normal(g, {inputs, hidden}, dtype::f32, {.seed = 1}) * 0.05, "w1");
    auto b1 = g.variable(fill(g, {hidden}, 0.01f), "b1");
    // No seed: it is derived from the node's name.
    w2 = g.variable(random_uniform(g, {hidden, classes}, dtype::f32, "w2/unseeded") * 0.1, "w2");
    auto b2 = g.variable(fill(g, {classes}, 0.0f), "b2");
    auto layer = tanh(bias_add(matmul(x, w1), b1)) + sigmoid(matmul(x, w1)) * 0.1;
    noise_of = random_standard_normal(g, {batch, hidden}, dtype::f32, "noise/unseeded");
    auto logits = bias_add(matmul(layer + noise_of * 0.01, w2), b2);
    auto penalty = l2_loss(w1) * 1e-4 + sum(exp(w2)) * 1e-4;
    loss = mean(sparse_softmax_cross_entropy_with_logits(logits, labels).loss) + penalty;
    train = gradient_descent{0.1f}.minimize(loss);
    initializer = g.initializer();
  }
};

// All values that a few training steps have computed.
std::vector<tensor> train(session s) {
  model m;
  s.run(m.initializer);
  auto step = s.prepare({m.x, m.labels}, {m.loss}, {m.train});
  std::vector<int32_t> digits(batch);
  for (size_t i = 0; i < digits.size(); ++i)
    digits[i] = static_cast<int32_t>(i * 7 % classes);
  std::vector<tensor> tensors;
  for (unsigned i = 0; i < 4; ++i)
    tensors.push_back(step.run({noise({batch, inputs}, i), tensor::vector(digits)})[0]);
  tensors.push_back(s.fetch(m.w1));
  tensors.push_back(s.fetch(m.w2));
  return tensors;
}

void check_same(const std::vector<tensor>& a, const std::vector<tensor>& b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    INFO("result " << i);
    CHECK(identical(a[i], b[i]));
  }
}

} // namespace

TEST_CASE("a deterministic session trains to the same bits with any number of threads") {
  watchdog watch;
  auto expected = train(session::local({.threads = {.intra_op = 1}, .deterministic = true}));
  for (int threads : {1, 2, 3, 8})
    for (size_t side_by_side : {1, 3}) {
      INFO(threads << " threads in an op, " << side_by_side << " ops side by side");
      check_same(train(session::local({.threads = {.intra_op = threads, .inter_op = side_by_side},
                                       .deterministic = true})),
                 expected);
    }
}

TEST_CASE("a deterministic session trains to the same bits on another task") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto first_task = start_task(cluster, {"worker", 0});
  check_same(train(session::connect(cluster, {.deterministic = true})),
             train(session::local({.threads = {.intra_op = 3}, .deterministic = true})));
}

TEST_CASE("random ops without a seed repeat in deterministic sessions only") {
  auto draw = [](bool deterministic, const char* name) {
    graph_builder g;
    auto noise = random_uniform(g, {100}, dtype::f32, name);
    return session::local({.deterministic = deterministic}).fetch(noise);
  };
  CHECK(identical(draw(true, "a"), draw(true, "a")));
  CHECK_FALSE(identical(draw(true, "a"), draw(true, "b"))); // each name gives other numbers
  CHECK_FALSE(identical(draw(false, "a"), draw(false, "a")));
}

} // namespace troupe::test::deterministic_test
