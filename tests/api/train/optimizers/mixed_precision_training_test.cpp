// Models that are written in f32 and compute in 16 bits.
#include "tests/support/catch.hpp"
#include "troupe/troupe.hpp"

#include <algorithm>
#include <random>
#include <set>

namespace troupe::test::mixed_precision_training_test {

namespace {

// Images of a bright square, whose class is its quadrant.
struct squares {
  tensor images, labels;
};

squares some_squares(int count, unsigned seed) {
  std::mt19937 generator{seed};
  std::normal_distribution<float> noise{0, 0.3f};
  std::vector<float> pixels(static_cast<size_t>(count) * 64);
  std::vector<int32_t> labels(static_cast<size_t>(count));
  for (auto& pixel : pixels)
    pixel = noise(generator);
  for (size_t i = 0; i < labels.size(); ++i) {
    labels[i] = static_cast<int32_t>(generator() % 4);
    auto top = static_cast<size_t>(labels[i] / 2) * 4,
         left_column = static_cast<size_t>(labels[i] % 2) * 4;
    for (size_t y = 0; y < 3; ++y)
      for (size_t x = 0; x < 3; ++x)
        pixels[i * 64 + (top + y) * 8 + left_column + x] += 1;
  }
  return {tensor::from_values({count, 8, 8, 1}, pixels), tensor::vector(labels)};
}

struct convnet {
  graph_builder g;
  edge images, labels, loss;
  node* train = nullptr;

  explicit convnet(bool scaled = false, bool recompute = false) {
    g.set_random_seed(3);
    images = g.placeholder(dtype::f32, {-1, 8, 8, 1}, "images");
    labels = g.placeholder(dtype::i32, {-1}, "labels");
    auto features = [&] {
      auto x = conv2d(g, images, 8, {3, 3}, {.activation = relu});
      x = batch_norm(g, conv2d(g, x, 8, {3, 3}), true, {.momentum = 0.9});
      x = max_pool2d(relu(x), {2, 2});
      return conv2d(g, x, 8, {3, 3}, {.activation = relu});
    };
    edge x;
    if (recompute) {
      auto recompute_scope = g.recompute();
      x = features();
    } else {
      x = features();
    }
    auto logits = dense(g, flatten(x), 4);
    loss = softmax_loss(logits, labels);
    adam minimizer{0.01};
    train = scaled ? loss_scale::dynamic(g).minimize(minimizer, loss) : minimizer.minimize(loss);
  }

  float loss_after(int steps, const session_options& options,
                   step_statistics* statistics = nullptr) {
    auto s = session::local(options);
    s.run(g.initializer());
    for (int i = 0; i < steps; ++i) {
      auto batch = some_squares(32, static_cast<unsigned>(i));
      s.run({{images, batch.images}, {labels, batch.labels}}, {}, {train},
            {.statistics = statistics});
    }
    auto batch = some_squares(256, 12345);
    return to_scalar<float>(s.fetch(loss, {{images, batch.images}, {labels, batch.labels}}));
  }
};

} // namespace

TEST_CASE("a convolutional network trains in 16 bits as well as in 32") {
  for (auto recompute : {false, true}) {
    convnet plain{false, recompute}, scaled{true, recompute};
    CHECK(plain.loss_after(0, {}) > 0.8);
    CHECK(plain.loss_after(60, {}) < 0.2);
    CHECK(plain.loss_after(60, {.passes = {.mixed_precision = dtype::bf16}}) < 0.25);
    CHECK(scaled.loss_after(60, {.passes = {.mixed_precision = dtype::f16}}) < 0.25);
  }
}

TEST_CASE("a network whose features are recomputed trains the same") {
  convnet f32_net{false, false}, recomputed_net{false, true};
  session_options options{.deterministic = true};
  CHECK(recomputed_net.loss_after(10, options) ==
        Approx(f32_net.loss_after(10, options)).epsilon(1e-4));
}

TEST_CASE("statistics of a step in 16 bits name the user's nodes and few casts") {
  convnet net;
  step_statistics plain, mixed;
  net.loss_after(1, {.passes = {.fuse = false}}, &plain);
  net.loss_after(1, {.passes = {.fuse = false, .mixed_precision = dtype::bf16}}, &mixed);
  auto nodes_of = [](const step_statistics& from, std::string_view op) {
    std::set<std::string> names;
    for (const auto& task : from.tasks)
      for (const auto& span : task.spans)
        if (const auto& subject = task.subject_of(span);
            subject.kind == span_kind::node && subject.op == op)
          names.insert(subject.name);
    return names;
  };
  for (auto op : {"Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput", "MatMul", "MaxPool",
                  "FusedBatchNormV3"}) {
    INFO(op);
    CHECK(!nodes_of(plain, op).empty());
    CHECK(nodes_of(mixed, op) == nodes_of(plain, op));
  }
  auto casts = nodes_of(mixed, "Cast");
  CHECK(casts.contains("conv2d/weights/bf16"));
  CHECK(casts.contains("images/bf16"));
  CHECK(casts.size() < 30);
}

TEST_CASE("errors in 16 bits name the user's nodes and types") {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1, -1}, "x");
  auto y = matmul(x, x, {}, "product");
  auto s = session::local({.passes = {.mixed_precision = dtype::f16}});
  try {
    s.fetch(y, {{x, tensor::from_values<float>({1, 2}, {1, 2})}});
    FAIL("the shapes do not fit");
  } catch (const error& e) {
    INFO(e.what());
    CHECK(std::string{e.what()}.find("MatMul 'product' (mixed_precision_training_test.cpp:") !=
          std::string::npos);
  }
}

} // namespace troupe::test::mixed_precision_training_test
