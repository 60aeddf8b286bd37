// Variables by handle act like variables by reference, and can be written for TensorFlow 2.
#include "tests/support/catch.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/serialization/graph_def/graph_def.hpp"
#include "troupe/troupe.hpp"

#include <functional>
#include <memory>
#include <set>

namespace troupe::test::resource_variables_test {

namespace {

using optimizer_maker = std::function<std::unique_ptr<optimizer>()>;

template <class Optimizer>
optimizer_maker makes(Optimizer prototype) {
  return [prototype] { return std::make_unique<Optimizer>(prototype); };
}

std::vector<optimizer_maker> every_optimizer() {
  return {makes(gradient_descent{0.1}),
          makes(momentum{0.1, 0.5, {.nesterov = true}}),
          makes(adagrad{0.3}),
          makes(proximal_adagrad{0.3, {.l1 = 0.1, .l2 = 0.2}}),
          makes(adadelta{}),
          makes(rmsprop{0.1, {.momentum = 0.3}}),
          makes(rmsprop{0.1, {.centered = true}}),
          makes(adam{0.1}),
          makes(ftrl{0.3, {.l1 = 0.1, .l2 = 0.2}})};
}

tensor table() { return tensor::from_values<float>({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}); }

struct model {
  graph_builder g;
  variable_handle dense, rows;
  edge loss;
  node* train = nullptr;
};

// Trains a whole variable and rows of another one.
void build(model& into, optimizer& minimizer, bool by_handle) {
  auto& g = into.g;
  auto variable = [&](const tensor& initial, const char* name) {
    return by_handle ? g.resource_variable(initial, name) : g.variable(initial, name);
  };
  into.dense = variable(tensor::from_values<float>({2, 1}, {0.5f, -0.25f}), "dense");
  into.rows = variable(table(), "rows");
  auto numbers = tensor::from_values<int32_t>({3}, {2, 0, 2});
  auto gathered = by_handle ? resource_gather(into.rows, numbers) : gather(into.rows, numbers);
  auto weights = by_handle ? read_variable_op(into.dense) : into.dense.ref;
  into.loss = sum(square(matmul(gathered, weights) - 1));
  into.train = minimizer.minimize(into.loss);
}

std::vector<tensor> after_three_steps(model& net) {
  auto s = session::local();
  s.run(net.g.initializer());
  for (int step = 0; step < 3; ++step)
    s.run(net.train);
  return {s.fetch(net.dense), s.fetch(net.rows), s.fetch(net.loss)};
}

std::multiset<std::string> ops_of(const graph& source) {
  std::multiset<std::string> names;
  for (const auto& node : source.nodes())
    names.insert(std::string{node->op().name});
  return names;
}

void check_equal(const tensor& a, const tensor& b) {
  REQUIRE(a.dims() == b.dims());
  for (int64_t i = 0; i < a.elements(); ++i)
    CHECK(a.data<float>()[i] == b.data<float>()[i]);
}

} // namespace

TEST_CASE("every optimizer acts alike on variables by handle") {
  for (const auto& make : every_optimizer()) {
    auto reference_optimizer = make(), handle_optimizer = make();
    model by_ref, by_handle;
    build(by_ref, *reference_optimizer, false);
    build(by_handle, *handle_optimizer, true);
    auto expected = after_three_steps(by_ref), actual = after_three_steps(by_handle);
    for (size_t i = 0; i < expected.size(); ++i)
      check_equal(actual[i], expected[i]);
  }
}

TEST_CASE("training by handles is written with the ops of TensorFlow 2, and acts alike") {
  for (const auto& make : every_optimizer()) {
    auto minimizer = make();
    model net;
    build(net, *minimizer, true);
    auto* start = net.g.initializer();
    auto written = write_graph_def(net.g);
    REQUIRE(written);
    graph reloaded{library()};
    auto imported = read_graph_def(std::as_bytes(std::span{*written}), reloaded);
    INFO(imported.status());
    REQUIRE(imported);
    for (const auto& name : ops_of(reloaded)) {
      INFO(name);
      CHECK_FALSE(name.starts_with("Apply"));
      CHECK_FALSE(name.starts_with("SparseApply"));
      CHECK_FALSE(name.starts_with("Scatter"));
      CHECK(name != "Assign");
      CHECK(name != "VariableV2");
    }
    auto s = session::local();
    s.run(imported->find(start->name()));
    for (int step = 0; step < 3; ++step)
      s.run(imported->find(net.train->name()));
    auto expected = after_three_steps(net);
    check_equal(s.fetch(*imported->find_edge("dense")), expected[0]);
    check_equal(s.fetch(*imported->find_edge("rows")), expected[1]);
  }
}

TEST_CASE("a value that is read behind a handle is read by a node in the written graph") {
  graph_builder g;
  auto v = g.resource_variable(tensor::vector<float>({1, 2}), "v");
  auto incremented = assign_add(v, {10.0f, 10.0f}, {}, "more");
  auto y = neg(incremented, "y");
  auto written = write_graph_def(g);
  REQUIRE(written);
  graph reloaded{library()};
  auto imported = read_graph_def(std::as_bytes(std::span{*written}), reloaded);
  INFO(imported.status());
  REQUIRE(imported);
  CHECK(reloaded.find("more")->op().name == "AssignAddVariableOp");
  CHECK(reloaded.find("y/read_0")->op().name == "ReadVariableOp");
  auto s = session::local();
  s.run(imported->find("v/init"));
  auto result = s.fetch(*imported->find_edge("y"));
  CHECK(result.values<float>()[0] == -11);
  CHECK(is_same_edge(y.node->inputs()[0], incremented));
}

TEST_CASE("scaled losses, averages and L-BFGS act alike on variables by handle") {
  auto train = [](bool by_handle) {
    graph_builder g;
    auto start = tensor::vector<float>({4, -2});
    auto w = by_handle ? g.resource_variable(start, "w") : g.variable(start, "w");
    auto loss = sum(square((by_handle ? read_variable_op(w) : w.ref) - 1.0f));
    gradient_descent minimizer{0.1};
    exponential_moving_average slow{0.5};
    auto* step =
        slow.track(g, loss_scale::dynamic(g, {.initial = 8}).minimize(minimizer, loss), {w});
    auto* use_averages = slow.assign_averages(g);
    lbfgs search{loss, {w}};
    auto s = session::local();
    s.run(g.initializer());
    for (int i = 0; i < 3; ++i)
      s.run(step);
    std::vector<tensor> values{s.fetch(w), s.fetch(slow.average(w))};
    s.run(use_averages);
    values.push_back(s.fetch(w));
    check_equal(values[2], values[1]);
    CHECK(search.minimize(s).converged);
    values.push_back(s.fetch(w));
    CHECK(values[3].values<float>()[1] == Approx(1.0f));
    return values;
  };
  auto expected = train(false), actual = train(true);
  for (size_t i = 0; i < expected.size(); ++i)
    check_equal(actual[i], expected[i]);
}

TEST_CASE("graphs that TensorFlow has no op for cannot be written") {
  graph_builder g;
  auto v = g.variable(tensor::vector<float>({1, 2}), "v");
  read_variable_op(v, "r");
  auto written = write_graph_def(g);
  REQUIRE_FALSE(written);
  CHECK(written.status().message().find("make it with VarHandleOp") != std::string::npos);
}

TEST_CASE("a handle is no value, and a value no handle") {
  graph_builder g;
  auto x = g.constant({1.0f});
  CHECK_THROWS_WITH(read_variable_op(x), Catch::Contains("must be a variable itself"));
}

TEST_CASE("gradients reach handles through reads and through rows") {
  graph_builder g;
  auto v = g.resource_variable(table(), "v");
  auto y = sum(square(read_variable_op(v))) +
           sum(resource_gather_nd(v, tensor::from_values<int32_t>({2, 1}, {1, 1})));
  auto gradients = g.gradients(y, {v});
  auto s = session::local();
  s.run(g.initializer());
  auto values = s.fetch(gradients[0]);
  for (int64_t i = 0; i < 8; ++i)
    CHECK(values.data<float>()[i] ==
          2.0f * static_cast<float>(i + 1) + (i == 2 || i == 3 ? 2.0f : 0.0f));
}

} // namespace troupe::test::resource_variables_test
