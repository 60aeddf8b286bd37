// Sparse gradients of rows stay sparse.
#include "tests/support/catch.hpp"
#include "troupe/api/train/optimizers/indexed_slices.hpp"
#include "troupe/troupe.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <set>

namespace troupe::test::indexed_slices_test {

namespace {

tensor table() { return tensor::from_values<float>({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}); }

// The ops that a step runs to reach the node.
std::set<std::string_view> ops_behind(const node* target) {
  std::set<std::string_view> names;
  std::set<const node*> visited;
  std::vector<const node*> open{target};
  while (!open.empty()) {
    auto* visited_node = open.back();
    open.pop_back();
    if (!visited.insert(visited_node).second)
      continue;
    names.insert(visited_node->op().name);
    for (const auto& input : visited_node->inputs())
      open.push_back(input.node);
    open.insert(open.end(), visited_node->controls().begin(), visited_node->controls().end());
  }
  return names;
}

std::vector<float> floats(const tensor& values) {
  return {values.values<float>().begin(), values.values<float>().end()};
}

std::vector<float> after_a_step(graph_builder& g, const variable_handle& w, node* train) {
  auto s = session::local();
  s.run(g.initializer());
  s.run(train);
  return floats(s.fetch(w));
}

using optimizer_maker = std::function<std::unique_ptr<optimizer>()>;

template <class Optimizer>
optimizer_maker makes(Optimizer prototype) {
  return [prototype] { return std::make_unique<Optimizer>(prototype); };
}

const std::vector<std::pair<std::string, optimizer_maker>>& optimizers_with_slots() {
  static const std::vector<std::pair<std::string, optimizer_maker>> all_optimizers{
      {"SparseApplyMomentum", makes(momentum{0.1})},
      {"SparseApplyMomentum", makes(momentum{0.1, 0.5, {.nesterov = true}})},
      {"SparseApplyAdagrad", makes(adagrad{0.3})},
      {"SparseApplyProximalAdagrad", makes(proximal_adagrad{0.3, {.l1 = 0.1, .l2 = 0.2}})},
      {"SparseApplyAdadelta", makes(adadelta{})},
      {"SparseApplyRMSProp", makes(rmsprop{0.1, {.momentum = 0.3}})},
      {"SparseApplyCenteredRMSProp", makes(rmsprop{0.1, {.centered = true}})},
      {"SparseApplyFtrl", makes(ftrl{0.3, {.l1 = 0.1, .l2 = 0.2}})}};
  return all_optimizers;
}

struct trained {
  std::vector<float> values;
  std::set<std::string_view> ops;
};

// Three steps on rows 2, 0, and 2 again; with dense gradients if `dense`.
trained train_rows(optimizer& minimizer, bool dense) {
  graph_builder g;
  auto w = g.variable(table(), "w");
  auto rows = gather(w, tensor::from_values<int32_t>({3, 1}, {2, 0, 2}));
  auto loss = sum(square(rows) * tensor::from_values<float>({3, 1, 1}, {1, 2, -0.25f}));
  auto pairs = optimizer::compute_gradients(loss);
  if (dense)
    pairs[0].gradient = identity(pairs[0].gradient);
  auto* train = minimizer.apply_gradients(pairs);
  auto s = session::local();
  s.run(g.initializer());
  for (int step = 0; step < 3; ++step)
    s.run(train);
  auto values = s.fetch(w);
  return {{values.values<float>().begin(), values.values<float>().end()}, ops_behind(train)};
}

// A table of which rows 2 and 0 are gathered twice, and a variable with a dense gradient.
struct model_of_both {
  graph_builder g;
  variable_handle w = g.variable(table(), "w");
  variable_handle b = g.variable(tensor::vector<float>({1, 1}), "b");
  std::vector<variable_gradient> sparse, dense; // the same gradients, of w and of b

  model_of_both() {
    auto rows = gather(w, tensor::vector<int32_t>({2, 0, 2}));
    auto row_0 = gather(w, tensor::vector<int64_t>({0}));
    sparse =
        optimizer::compute_gradients(sum(rows * tensor::from_values<float>({3, 1}, {3, 4, -1})) +
                                         sum(row_0 * 0.5) + sum(b * tensor::vector<float>({6, -8})),
                                     {w, b});
    dense = sparse;
    dense[0].gradient = identity(dense[0].gradient);
  }
};

using clipping = std::function<gradient_list(const gradient_list&)>;

void check_stays_sparse(const clipping& clip) {
  model_of_both m;
  auto sparse = clip(m.sparse), dense = clip(m.dense);
  CHECK(slices_of(sparse[0].gradient));
  CHECK_FALSE(slices_of(sparse[1].gradient));
  CHECK_FALSE(slices_of(dense[0].gradient));
  auto s = session::local();
  s.run(m.g.initializer());
  for (size_t entry : {0, 1}) {
    auto sparse_values = floats(s.fetch(sparse[entry].gradient));
    auto dense_values = floats(s.fetch(dense[entry].gradient));
    REQUIRE(sparse_values.size() == dense_values.size());
    for (size_t i = 0; i < sparse_values.size(); ++i) {
      INFO("gradient " << entry << ", element " << i);
      CHECK(sparse_values[i] == Approx(dense_values[i]).epsilon(1e-5));
    }
  }
  auto* train = gradient_descent{0.5}.apply_gradients({sparse[0]});
  auto* dense_train = gradient_descent{0.5}.apply_gradients({dense[0]});
  CHECK(ops_behind(train).contains("ScatterSub"));
  auto result = after_a_step(m.g, m.w, train), expected = after_a_step(m.g, m.w, dense_train);
  for (size_t i = 0; i < result.size(); ++i)
    CHECK(result[i] == Approx(expected[i]).epsilon(1e-5));
}

} // namespace

TEST_CASE("a step on gathered rows does not compute the other rows") {
  graph_builder g;
  auto w = g.variable(table(), "w");
  auto rows = gather(w, tensor::vector<int32_t>({2, 0, 2}));
  auto* train =
      gradient_descent{0.5}.minimize(sum(rows * tensor::from_values<float>({3, 1}, {1, 2, 4})));
  auto ops = ops_behind(train);
  CHECK(ops.contains("ScatterSub"));
  CHECK_FALSE(ops.contains("UnsortedSegmentSum"));
  // Row 2 was gathered twice: with gradients 1 and 4.
  CHECK(after_a_step(g, w, train) == std::vector<float>{0, 1, 3, 4, 2.5f, 3.5f, 7, 8});
}

TEST_CASE("rows from several gathers are joined") {
  graph_builder g;
  auto w = g.variable(table(), "w");
  auto rows_3_1 = gather(w, tensor::from_values<int32_t>({2, 1}, {3, 1}));
  auto row_1 = gather(w, tensor::vector<int64_t>({1}));
  auto* train = gradient_descent{1}.minimize(sum(rows_3_1) + sum(row_1 * 2));
  CHECK_FALSE(ops_behind(train).contains("UnsortedSegmentSum"));
  CHECK(after_a_step(g, w, train) == std::vector<float>{1, 2, 0, 1, 5, 6, 6, 7});
}

TEST_CASE("a gradient of rows and of the whole variable is dense") {
  graph_builder g;
  auto w = g.variable(table(), "w");
  auto loss = sum(gather(w, tensor::vector<int32_t>({3}))) + sum(w);
  auto gradients = g.gradients(loss, {w});
  CHECK_FALSE(slices_of(gradients[0]));
  auto* train = gradient_descent{1}.minimize(loss);
  CHECK(after_a_step(g, w, train) == std::vector<float>{0, 1, 2, 3, 4, 5, 5, 6});
}

TEST_CASE("slices are edges of the gradient's own nodes, and dense gradients have none") {
  graph_builder g;
  auto w = g.variable(table(), "w");
  auto row_numbers = g.placeholder(dtype::i32, {-1}, "which");
  auto gathered = gather(w, row_numbers);
  auto gradients = g.gradients({sum(gathered), sum(square(w))}, {gathered, w});
  CHECK_FALSE(slices_of(gradients[0]));
  CHECK_FALSE(slices_of({}));
  auto rows = slices_of(g.gradients(sum(gathered), {w})[0]);
  REQUIRE(rows);
  CHECK(is_same_edge(rows->indices, row_numbers));
  CHECK(rows->values.dims().compatible(partial_shape{-1, 2}));
}

TEST_CASE("stateful optimizers change gathered rows as they would change all rows") {
  for (const auto& [op, make] : optimizers_with_slots()) {
    INFO(op);
    auto row_result = train_rows(*make(), false), dense_result = train_rows(*make(), true);
    CHECK(row_result.ops.contains(op));
    CHECK_FALSE(dense_result.ops.contains(op));
    for (size_t i : {0, 1, 4, 5}) {
      INFO("element " << i);
      CHECK(row_result.values[i] == Approx(dense_result.values[i]).epsilon(1e-5));
    }
    for (size_t i : {2, 3, 6, 7})
      CHECK(row_result.values[i] == table().values<float>()[i]);
  }
}

TEST_CASE("the slot of a row does not change while the row does not") {
  graph_builder g;
  auto w = g.variable(table(), "w");
  auto row_numbers = g.placeholder(dtype::i32, {-1}, "which");
  momentum minimizer{1, 0.5};
  auto* train = minimizer.minimize(sum(gather(w, row_numbers)));
  auto s = session::local();
  s.run(g.initializer());
  for (int row : {1, 3, 3, 1})
    s.run(train, {{row_numbers, tensor::vector<int32_t>({row, row})}});
  s.run(train, {{row_numbers, tensor::vector<int32_t>({})}});
  auto speed = s.fetch(minimizer.slot(w, "momentum"));
  auto after = s.fetch(w);
  for (size_t row : {1, 3}) {
    CHECK(speed.values<float>()[row * 2] == 3); // 2, and half of it and 2
    CHECK(after.values<float>()[row * 2] == table().values<float>()[row * 2] - 5);
  }
  CHECK(speed.values<float>()[0] == 0);
}

TEST_CASE("Adam's step on rows equals one on the whole variable") {
  adam first_adam{0.1}, second_adam{0.1};
  auto row_result = train_rows(first_adam, false), dense_result = train_rows(second_adam, true);
  CHECK(row_result.values == dense_result.values);
}

TEST_CASE("rows that were gathered twice are added up") {
  graph_builder g;
  auto w = g.variable(table(), "w");
  auto gathered = gather(w, tensor::from_values<int64_t>({2, 2}, {3, 1, 3, 3}));
  auto weights = tensor::from_values<float>({2, 2, 1}, {1, 2, 4, 8});
  auto rows = summed_slices_of(g.gradients(sum(gathered * weights), {w})[0]);
  REQUIRE(rows);
  auto s = session::local();
  s.run(g.initializer());
  auto indices = s.fetch(rows->indices), values = s.fetch(rows->values);
  CHECK(std::ranges::equal(indices.values<int64_t>(), std::vector<int64_t>{3, 1}));
  CHECK(std::ranges::equal(values.values<float>(), std::vector<float>{13, 13, 2, 2}));
  CHECK_FALSE(summed_slices_of(g.gradients(sum(square(w)), {w})[0]));
  CHECK_FALSE(summed_slices_of({}));
}

TEST_CASE("sparse gradients that are clipped by a norm stay sparse") {
  // Row 2 has the gradient 3 - 1, row 0 has 4 + 0.5: the norm is that of the sums.
  model_of_both m;
  auto s = session::local();
  s.run(m.g.initializer());
  auto norm = global_norm({m.sparse[0].gradient});
  CHECK(to_scalar<float>(s.fetch(norm)) == Approx(std::sqrt(2 * (2.0 * 2 + 4.5 * 4.5))));
  for (float limit : {1.0f, 100.0f}) { // below and above all norms
    INFO(limit);
    check_stays_sparse([&](const auto& gradients) { return clip_by_norm(gradients, limit); });
    check_stays_sparse(
        [&](const auto& gradients) { return clip_by_global_norm(gradients, limit); });
  }
}

TEST_CASE("sparse gradients that are clipped by value stay sparse if the bounds include 0") {
  // Row 2 has the gradient 3 - 1: both of its parts are outside of the bounds, and the sum is not.
  check_stays_sparse([](const auto& gradients) { return clip_by_value(gradients, -0.5, 2.5); });
  check_stays_sparse([](const auto& gradients) { return clip_by_value(gradients, 0, 1); });
  check_stays_sparse([](const auto& gradients) {
    return clip_by_value(gradients, tensor::scalar(-1.0f), tensor::scalar(2.0f));
  });
  model_of_both m;
  auto bounded_by_constants = clip_by_value({m.sparse[0]}, m.g.constant(-1.0f), m.g.constant(2.0f));
  CHECK(slices_of(bounded_by_constants[0].gradient));
}

TEST_CASE("sparse gradients are clipped by value to dense ones if a bound excludes 0") {
  model_of_both m;
  auto low = m.g.placeholder(dtype::f32, shape{}, "low");
  auto above_0 = clip_by_value(m.sparse, 1, 3), unknown = clip_by_value(m.sparse, low, 3);
  CHECK_FALSE(slices_of(above_0[0].gradient));
  CHECK_FALSE(slices_of(unknown[0].gradient));
  auto s = session::local();
  s.run(m.g.initializer());
  const std::vector<float> expected{3, 3, 1, 1, 2, 2, 1, 1};
  CHECK(floats(s.fetch(above_0[0].gradient)) == expected);
  CHECK(floats(s.fetch(unknown[0].gradient, {{low, 1.0f}})) == expected);
}

TEST_CASE("a variable of numbers has rows as well, and one number names a row") {
  graph_builder g;
  auto w = g.variable(tensor::vector<double>({1, 2, 3, 4}), "w");
  auto single_row = gather(w, tensor::scalar<int32_t>(2));
  auto loss = square(single_row) + sum(gather(w, tensor::vector<int32_t>({0, 2})));
  auto* train = adagrad{1, 0}.minimize(loss);
  CHECK(ops_behind(train).contains("SparseApplyAdagrad"));
  auto s = session::local();
  s.run(g.initializer());
  s.run(train); // each by its own rate, without earlier gradients
  CHECK(std::ranges::equal(s.fetch(w).values<double>(), std::vector<double>{0, 2, 2, 4}));
}

TEST_CASE("a partitioned embedding changes rows of its slices") {
  graph_builder g;
  embedding_table table{g, 7, 3, {.devices = {"/cpu:0", "/cpu:0"}}};
  auto numbers = g.placeholder(dtype::i32, {-1, 2}, "numbers");
  auto* train = adagrad{1}.minimize(sum(square(table(numbers))));
  auto ops = ops_behind(train);
  CHECK(ops.contains("SparseApplyAdagrad"));
  CHECK_FALSE(ops.contains("ApplyAdagrad"));
  auto s = session::local();
  s.run(g.initializer());
  auto before = s.fetch(table.parts()[1]);
  s.run(train, {{numbers, tensor::from_values<int32_t>({2, 2}, {3, 0, 3, 3})}});
  auto after = s.fetch(table.parts()[1]); // rows 1, 3, and 5
  for (size_t i = 0; i < 9; ++i)
    CHECK((before.values<float>()[i] == after.values<float>()[i]) == (i / 3 != 1));
}

} // namespace troupe::test::indexed_slices_test
