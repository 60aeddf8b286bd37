#include "examples/train_digits/model.hpp"
// Builds the graph of the digit classifier.

#include "examples/support/digits.hpp"

#include <cmath>

namespace digits {

using namespace troupe;

namespace {

// Adds everything except training.
void add(model& built, graph_builder& g, const model_options& options) {
  size_t variables = 0;
  auto variable = [&](edge initial, const char* name) {
    auto& tasks = options.parameters;
    auto index = variables++;
    if (tasks.empty())
      return g.variable(initial, name);
    auto on = g.on(tasks[index % tasks.size()]);
    return g.variable(initial, name);
  };
  // Small random weights, scaled so that activations keep their size from layer to layer.
  auto weights = [&](int64_t from, int64_t to, const char* name) {
    auto scale = std::sqrt(2.0 / static_cast<double>(from));
    auto seed = options.seed * 16 + static_cast<int64_t>(variables);
    return variable(truncated_normal(g, {from, to}, dtype::f32, {.seed = seed}) * scale, name);
  };
  auto biases = [&](int64_t count, const char* name) {
    return variable(fill(g, {count}, 0.0f), name);
  };
  auto layer = [&](edge input, int64_t from, int64_t to, const char* name) {
    auto name_scope = g.scope(name);
    auto w = weights(from, to, "weights");
    auto b = biases(to, "biases");
    built.weights.push_back(w);
    return bias_add(matmul(input, w), b);
  };

  built.images = g.placeholder(dtype::f32, {-1, pixels}, "images");
  built.labels = g.placeholder(dtype::i32, {-1}, "labels");
  auto hidden = relu(layer(built.images, pixels, options.hidden, "hidden"));
  auto logits = layer(hidden, options.hidden, classes, "output");
  built.loss = mean(sparse_softmax_cross_entropy_with_logits(logits, built.labels).loss);
  built.prediction = arg_max(logits, 1);
}

} // namespace

model build(const model_options& options) {
  model built;
  built.graph = std::make_unique<graph_builder>();
  auto& g = *built.graph;
  auto on = g.on(options.compute);
  add(built, g, options);
  built.train = gradient_descent{options.learning_rate}.minimize(built.loss);
  built.initializer = g.initializer();
  return built;
}

replica_step build_in(graph_builder& g, const model_options& options) {
  model built;
  add(built, g, options);
  return {{built.images, built.labels}, built.loss, {built.prediction}};
}

} // namespace digits
