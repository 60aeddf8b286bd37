#include "troupe/runtime/placement/cost.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/test_steps.hpp"

namespace troupe::test::cost_test {

TEST_CASE("estimates grow with the shapes, and unknown extents count as 1") {
  graph in{ops()};
  auto placeholder = [&](const partial_shape& dims) {
    return add(in, {.op = "Placeholder", .attrs = {{"dtype", dtype::f32}, {"shape", dims}}});
  };
  auto neg = [&](edge operand) { return add(in, {.op = "Neg", .inputs = {operand}}).node; };
  auto *small = neg(placeholder({10})), *large = neg(placeholder({1000, 1000})),
       *open = neg(placeholder({unknown_extent, 10}));
  CHECK(workload_of(*small).bytes == 80);
  CHECK(workload_of(*small).flops == 10);
  CHECK(workload_of(*open).bytes == 80);
  CHECK(expected_nanoseconds(*large) > 1000 * expected_nanoseconds(*small));
  CHECK(expected_nanoseconds(*open) == expected_nanoseconds(*small));
}

TEST_CASE("measured means replace estimates") {
  graph in{ops()};
  auto* node = add(in, {.op = "Neg", .inputs = {constant(in, 1.0f)}}).node;
  node_times measured;
  CHECK(expected_nanoseconds(*node, &measured) == expected_nanoseconds(*node));
  measured.add({.node = node->name(), .device = "cpu:0", .runs = 3, .mean_ns = 100});
  measured.add({.node = node->name(), .device = "cpu:0", .runs = 1, .mean_ns = 500});
  CHECK(expected_nanoseconds(*node, &measured) == 200);
  measured.add({.node = node->name(), .device = "cpu:0", .runs = 0, .mean_ns = 1e9});
  CHECK(expected_nanoseconds(*node, &measured) == 200);
  CHECK(measured.find(node->name())->runs == 4);
}

} // namespace troupe::test::cost_test
