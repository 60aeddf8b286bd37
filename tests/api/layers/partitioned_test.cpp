// A partitioned variable acts as one variable: its value, lookups of its rows, and their gradients.
#include "tests/support/catch.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/api/train/optimizers/indexed_slices.hpp"
#include "troupe/serialization/graph_def/graph_def.hpp"
#include "troupe/troupe.hpp"

#include <numeric>

namespace troupe::test::partitioned_test {

namespace {

tensor counting(const shape& dims) {
  std::vector<float> values(static_cast<size_t>(dims.elements()));
  std::iota(values.begin(), values.end(), 1.0f);
  return tensor::from_values(dims, values);
}

void check_equal(const tensor& a, const tensor& b) {
  REQUIRE(a.dims() == b.dims());
  for (int64_t i = 0; i < a.elements(); ++i)
    CHECK(a.data<float>()[i] == b.data<float>()[i]);
}

} // namespace

TEST_CASE("slices have the requested sizes, and know their positions") {
  graph_builder g;
  partitioned_variable rows{g, counting({7, 2}), "rows", {.slices = 3}};
  partitioned_variable columns{
      g, counting({2, 5}), "columns", {.axis = 1, .sizes = {1, 4}, .use_resource = true}};
  REQUIRE(rows.slices().size() == 3);
  CHECK(rows.slices()[0].dims() == partial_shape{3, 2});
  CHECK(rows.slices()[2].dims() == partial_shape{2, 2});
  CHECK(rows.slices()[1].name() == "rows/part_1");
  auto second = slice_of(rows.slices()[1]);
  REQUIRE(second);
  CHECK(second->variable_name == "rows");
  CHECK(second->full == shape{7, 2});
  CHECK(second->first == shape{3, 0});
  CHECK(second->dims == shape{2, 2});
  auto last = slice_of(columns.slices()[1]);
  REQUIRE(last);
  CHECK(last->first == shape{0, 1});
  CHECK(last->dims == shape{2, 4});
  CHECK(columns.slices()[1].ref.node->op().name == "VarHandleOp");
  CHECK(columns.slices()[1].ref.node->attr<std::string>("_slice") == "2 5 0,2:1,4");
  CHECK_FALSE(slice_of(g.variable(1.0f, "whole")));
  auto s = session::local();
  s.run(g.initializer());
  check_equal(s.fetch(rows.value()), counting({7, 2}));
  check_equal(s.fetch(columns.value()), counting({2, 5}));
}

TEST_CASE("slices may have initializers of their own, and survive a GraphDef") {
  graph_builder g;
  auto scope = g.scope("model");
  partitioned_variable v{g, {5, 2}, initializers::ones(), "v", {.slices = 2, .use_resource = true}};
  auto written = write_graph_def(g);
  REQUIRE(written);
  graph reloaded{library()};
  REQUIRE(read_graph_def(std::as_bytes(std::span{*written}), reloaded));
  auto slice = slice_of({reloaded.find("model/v/part_1")->output(0)});
  REQUIRE(slice);
  CHECK(slice->variable_name == "model/v");
  CHECK(slice->first == shape{3, 0});
  auto s = session::local();
  s.run(g.initializer());
  CHECK(s.fetch(v.value()).values<float>()[9] == 1);
}

TEST_CASE("rows of slices equal those of the whole variable, and so do their gradients") {
  for (bool use_resource : {false, true})
    for (auto strategy : {partition_strategy::mod, partition_strategy::div}) {
      graph_builder g;
      auto whole_table = g.variable(counting({7, 3}), "whole");
      std::vector<variable_handle> parts;
      if (strategy == partition_strategy::div) {
        parts =
            partitioned_variable{
                g, counting({7, 3}), "parts", {.sizes = {1, 4, 2}, .use_resource = use_resource}}
                .slices();
      } else {
        auto whole_values = counting({7, 3});
        for (int64_t part = 0; part < 3; ++part) {
          std::vector<float> part_values;
          for (auto row = part; row < 7; row += 3)
            part_values.insert(part_values.end(), whole_values.data<float>() + row * 3,
                               whole_values.data<float>() + row * 3 + 3);
          auto value = tensor::from_values(shape{std::ssize(part_values) / 3, 3}, part_values);
          parts.push_back(use_resource ? g.resource_variable(value) : g.variable(value));
        }
      }
      auto numbers = g.placeholder(dtype::i64, {-1, -1});
      auto a = gather(whole_table, numbers), b = embedding_lookup(parts, numbers, strategy);
      auto s = session::local();
      s.run(g.initializer());
      std::vector<feed> fed{{numbers, tensor::from_values<int64_t>({3, 2}, {6, 0, 1, 1, 5, 4})}};
      check_equal(s.fetch(b, fed), s.fetch(a, fed));
      std::vector<feed> empty_feeds{{numbers, tensor::from_values<int64_t>({0, 2}, {})}};
      check_equal(s.fetch(b, empty_feeds), s.fetch(a, empty_feeds));
      for (int64_t wrong_row : {7, -1})
        CHECK_THROWS_WITH(
            s.fetch(b, {{numbers, tensor::from_values<int64_t>({1, 1}, {wrong_row})}}),
            Catch::Contains("indices"));

      // Gradient descent on the slices equals gradient descent on the whole variable.
      auto* on_whole = gradient_descent{0.1}.minimize(sum(square(a)), {whole_table});
      std::vector<edge> refs(parts.begin(), parts.end());
      auto pairs = optimizer::compute_gradients(sum(square(b)), refs);
      for (const auto& pair : pairs)
        CHECK(slices_of(pair.gradient));
      auto* on_parts = gradient_descent{0.1}.apply_gradients(pairs);
      s.run(fed, {}, {on_whole, on_parts});
      check_equal(s.fetch(b, fed), s.fetch(a, fed));
    }
}

TEST_CASE("mismatched slices are refused") {
  graph_builder g;
  auto v = counting({4, 2});
  CHECK_THROWS_WITH((partitioned_variable{g, v, "a", {.axis = 2}}),
                    Catch::Contains("has no axis 2"));
  CHECK_THROWS_WITH((partitioned_variable{g, v, "b", {.slices = 5}}),
                    Catch::Contains("slices must be 1 to 4") && Catch::Contains("got 5"));
  CHECK_THROWS_WITH((partitioned_variable{g, v, "c", {.sizes = {1, 2}}}),
                    Catch::Contains("their sum the extent 4"));
  CHECK_THROWS_WITH((partitioned_variable{g, v, "d", {.sizes = {5, -1}}}),
                    Catch::Contains("must be positive"));
  CHECK_THROWS_WITH(embedding_lookup({}, {0}), Catch::Contains("at least one part"));
}

} // namespace troupe::test::partitioned_test
