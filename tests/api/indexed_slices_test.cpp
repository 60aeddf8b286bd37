// Gradients of rows stay gradients of rows.
#include "troupe/api/train/indexed_slices.hpp"
#include "troupe/tests/support/catch.hpp"
#include "troupe/troupe.hpp"

#include <set>

using namespace troupe;

namespace {

tensor table() { return tensor::of<float>({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}); }

// The ops that a step runs to reach the node.
std::set<std::string_view> ops_behind(const node* target) {
  std::set<std::string_view> names;
  std::set<const node*> seen;
  std::vector<const node*> open{target};
  while (!open.empty()) {
    auto* at = open.back();
    open.pop_back();
    if (!seen.insert(at).second)
      continue;
    names.insert(at->op().name);
    for (const auto& input : at->inputs())
      open.push_back(input.node);
    open.insert(open.end(), at->controls().begin(), at->controls().end());
  }
  return names;
}

std::vector<float> after_a_step(graph_builder& g, const variable_handle& w, node* train) {
  auto s = session::local();
  s.run(g.initializer());
  s.run(train);
  auto values = s.fetch(w);
  return {values.values<float>().begin(), values.values<float>().end()};
}

} // namespace

TEST_CASE("a step on rows that were gathered computes nothing of the others") {
  graph_builder g;
  auto w = g.variable(table(), "w");
  auto rows = gather(w, tensor::vector<int32_t>({2, 0, 2}));
  auto* train = gradient_descent{0.5}.minimize(sum(rows * tensor::of<float>({3, 1}, {1, 2, 4})));
  auto behind = ops_behind(train);
  CHECK(behind.contains("ScatterSub"));
  CHECK_FALSE(behind.contains("UnsortedSegmentSum"));
  // Row 2 was taken twice: with gradients 1 and 4.
  CHECK(after_a_step(g, w, train) == std::vector<float>{0, 1, 3, 4, 2.5f, 3.5f, 7, 8});
}

TEST_CASE("rows from several places are joined") {
  graph_builder g;
  auto w = g.variable(table(), "w");
  auto some = gather(w, tensor::of<int32_t>({2, 1}, {3, 1}));
  auto others = gather(w, tensor::vector<int64_t>({1}));
  auto* train = gradient_descent{1}.minimize(sum(some) + sum(others * 2));
  CHECK_FALSE(ops_behind(train).contains("UnsortedSegmentSum"));
  CHECK(after_a_step(g, w, train) == std::vector<float>{1, 2, 0, 1, 5, 6, 6, 7});
}

TEST_CASE("a gradient of rows and of all is one of all") {
  graph_builder g;
  auto w = g.variable(table(), "w");
  auto loss = sum(gather(w, tensor::vector<int32_t>({3}))) + sum(w);
  auto found = g.gradients(loss, {w});
  CHECK_FALSE(slices_of(found[0]));
  auto* train = gradient_descent{1}.minimize(loss);
  CHECK(after_a_step(g, w, train) == std::vector<float>{0, 1, 2, 3, 4, 5, 5, 6});
}

TEST_CASE("slices are edges into the gradient's own nodes, and dense gradients have none") {
  graph_builder g;
  auto w = g.variable(table(), "w");
  auto which = g.placeholder(dtype::i32, {-1}, "which");
  auto taken = gather(w, which);
  auto found = g.gradients({sum(taken), sum(square(w))}, {taken, w});
  CHECK_FALSE(slices_of(found[0]));
  CHECK_FALSE(slices_of({}));
  auto rows = slices_of(g.gradients(sum(taken), {w})[0]);
  REQUIRE(rows);
  CHECK(rows->indices == which);
  CHECK(rows->values.dims().compatible(partial_shape{-1, 2}));
}
