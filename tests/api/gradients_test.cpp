// Gradients with user functions, and gradients of gradients.
#include "tests/support/catch.hpp"
#include "troupe/troupe.hpp"

#include <functional>

namespace troupe::test::gradients_test {

namespace {

std::vector<double> values_of(const tensor& input) {
  return {input.values<double>().begin(), input.values<double>().end()};
}

using formula = std::function<edge(edge x)>; // a scalar of a [2, 3] matrix

// Compares H v, computed by the graph, with differences of gradients along v.
void check_hessian(const char* label, const formula& f) {
  INFO(label);
  std::vector<double> start{0.3, -1.2, 0.7, 1.1, -0.4, 0.9}, along{1, -0.5, 2, 0.25, -1, 0.75};
  graph_builder g;
  auto x = g.placeholder(dtype::f64, {2, 3}, "x");
  auto v = g.constant(tensor::from_values<double>({2, 3}, along));
  auto first = g.gradients(f(x), {x})[0];
  REQUIRE_FALSE(first.is_empty());
  auto by_sum = g.gradients(sum(first * v), {x})[0];
  auto by_weight = g.gradients(std::vector{first}, {x}, {.weights = {v}})[0];
  REQUIRE_FALSE(by_sum.is_empty());
  REQUIRE_FALSE(by_weight.is_empty());
  auto s = session::local();
  auto moved = [&](double step) {
    auto point = start;
    for (size_t i = 0; i < point.size(); ++i)
      point[i] += step * along[i];
    return tensor::from_values<double>({2, 3}, point);
  };
  constexpr double step = 1e-5;
  auto product = values_of(s.fetch(by_sum, {{x, moved(0)}}));
  auto weighed = values_of(s.fetch(by_weight, {{x, moved(0)}}));
  auto above = values_of(s.fetch(first, {{x, moved(step)}}));
  auto below = values_of(s.fetch(first, {{x, moved(-step)}}));
  for (size_t i = 0; i < product.size(); ++i) {
    INFO("element " << i);
    CHECK(product[i] == Approx((above[i] - below[i]) / (2 * step)).epsilon(1e-6).margin(1e-7));
    CHECK(weighed[i] == Approx(product[i]).epsilon(1e-12));
  }
}

} // namespace

TEST_CASE("Hessian-vector products agree with differences of gradients") {
  auto weights = tensor::from_values<double>({3, 2}, {0.5, -1, 0.25, 2, -0.75, 1.5});
  auto output_gradient = tensor::from_values<double>({2, 3}, {1, 0.5, -0.25, -1.5, 0.75, 2});
  auto labels = tensor::from_values<double>({2, 3}, {0.2, 0.5, 0.3, 1, 0, 0});
  check_hessian("a cube", [](edge x) { return sum(x * x * x); });
  check_hessian("a network", [&](edge x) {
    return mean(square(matmul(tanh(matmul(x, weights)), output_gradient)));
  });
  check_hessian("softmax", [&](edge x) { return sum(square(softmax(x * x))); });
  check_hessian("cross entropy",
                [&](edge x) { return sum(softmax_cross_entropy_with_logits(x * x, labels).loss); });
  check_hessian("sigmoids", [](edge x) { return sum(sigmoid(x) * softplus(x)); });
  check_hessian("powers", [](edge x) { return sum(exp(x) / sqrt(square(x) + 1.0)); });
  check_hessian("rows", [](edge x) {
    return sum(square(square(gather(x, tensor::vector<int32_t>({1, 0, 1})))));
  });
}

TEST_CASE("Hessian-vector products go through convolutions, pools, and sparse gradients") {
  auto filter = tensor::from_values<double>({2, 2, 1, 2}, {0.5, -1, 0.25, 2, -0.75, 1.5, 1, -0.5});
  auto image = [](edge x) { return reshape(x, {1, 2, 3, 1}); };
  auto axis = tensor::scalar<int32_t>(1);
  check_hessian("a convolution", [&](edge x) {
    auto y = conv2d(image(x * x), filter, {1, 1, 1, 1}, "SAME");
    return sum(y * y * y);
  });
  check_hessian("a convolution by what it convolves", [&](edge x) {
    return sum(square(conv2d(image(x), reshape(x, {2, 3, 1, 1}), {1, 1, 1, 1}, "SAME")));
  });
  check_hessian("a pool", [&](edge x) {
    return sum(square(square(max_pool(image(x), {1, 2, 2, 1}, {1, 1, 1, 1}, "VALID"))));
  });
  check_hessian("rectifiers", [](edge x) { return sum(elu(x) * relu(x) + square(elu(x))); });
  check_hessian("logarithms", [](edge x) { return sum(square(log_softmax(x))); });
  check_hessian("products", [&](edge x) { return sum(square(prod(x, axis))); });
  check_hessian("running sums", [&](edge x) { return sum(square(square(cumsum(x, axis)))); });
  check_hessian("the largest", [&](edge x) { return sum(square(square(max(x, axis)))); });
  check_hessian("a sparse softmax", [](edge x) {
    auto indices = tensor::from_values<int64_t>({6, 2}, {0, 1, 0, 3, 1, 0, 2, 0, 2, 1, 2, 2});
    auto y = sparse_softmax(indices, reshape(x, {6}), tensor::vector<int64_t>({3, 4}));
    return sum(y * y * y);
  });
}

TEST_CASE("a user-defined gradient trains through an op that has none") {
  auto identity_gradient = [](gradient_context& context) {
    return edges{context.output_gradient(0)};
  };
  graph_builder g;
  auto w = g.variable(tensor::vector<double>({0.2, 1.7}), "w");
  auto loss = sum(square(round(w) * 3.0));
  auto gradient = g.gradients(loss, {w}, {.of_ops = {{"Round", identity_gradient}}})[0];
  REQUIRE_FALSE(gradient.is_empty());
  auto* train = gradient_descent{0.1}.apply_gradients({{w, gradient}});
  auto s = session::local();
  s.run(g.initializer());
  s.run(train);
  auto after = values_of(s.fetch(w));
  CHECK(after[0] == Approx(0.2));
  CHECK(after[1] == Approx(1.7 - 0.1 * 2 * 9 * 2));
}

TEST_CASE("a user-defined gradient may use the ops of the library") {
  graph_builder g;
  auto x = g.placeholder(dtype::f64, {2}, "x");
  auto y = square(x, "y");
  auto clipped = [](gradient_context& context) {
    return edges{clip_by_value(context.output_gradient(0) * context.input(0) * 2.0, -1.0, 1.0)};
  };
  auto gradient = g.gradients(sum(y), {x}, {.of_nodes = {{y.node, clipped}}})[0];
  auto s = session::local();
  CHECK(values_of(s.fetch(gradient, {{x, tensor::vector<double>({0.25, -7})}})) ==
        std::vector{0.5, -1.0});
}

TEST_CASE("gradients stop where users say") {
  graph_builder g;
  auto w = g.variable(tensor::vector<double>({1, 2}), "w");
  auto target = w * 3.0;
  auto loss = sum(square(target - w));
  auto s = session::local();
  s.run(g.initializer());
  auto stopped = g.gradients(loss, {w}, {.stop_edges = {target}})[0];
  CHECK(values_of(s.fetch(stopped)) == std::vector<double>{-4, -8});
  CHECK(values_of(s.fetch(g.gradients(loss, {w})[0])) == std::vector<double>{8, 16});
}

TEST_CASE("an error in a user-defined gradient names the node and the line of the call") {
  graph_builder g;
  auto x = g.placeholder(dtype::f64, {2}, "x");
  auto y = square(x, "y");
  auto no_gradients = [](gradient_context&) { return edges{}; };
  CHECK_THROWS_WITH(g.gradients(sum(y), {x}, {.of_nodes = {{y.node, no_gradients}}}),
                    Catch::Contains("gradients (gradients_test.cpp:") &&
                        Catch::Contains("Square 'y' (gradients_test.cpp:") &&
                        Catch::Contains("returned 0 gradients for 1 inputs"));
}

} // namespace troupe::test::gradients_test
