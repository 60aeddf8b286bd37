#include "troupe/runtime/cost.hpp"

#include "troupe/tests/support/catch.hpp"
#include "troupe/tests/support/test_steps.hpp"

using namespace troupe;
using namespace troupe::test;

TEST_CASE("estimates grow with the shapes, and unknown extents count as 1") {
  graph in{ops()};
  auto placeholder = [&](const partial_shape& dims) {
    return add(in, {.op = "Placeholder", .attrs = {{"dtype", dtype::f32}, {"shape", dims}}});
  };
  auto neg = [&](edge of) { return add(in, {.op = "Neg", .inputs = {of}}).node; };
  auto *small = neg(placeholder({10})), *large = neg(placeholder({1000, 1000})),
       *open = neg(placeholder({unknown_extent, 10}));
  CHECK(workload_of(*small).bytes == 80);
  CHECK(workload_of(*small).flops == 10);
  CHECK(workload_of(*open).bytes == 80);
  cost_model costs;
  CHECK(costs.nanoseconds(*large) > 1000 * costs.nanoseconds(*small));
  CHECK(costs.nanoseconds(*open) == costs.nanoseconds(*small));
}

TEST_CASE("measured means replace estimates, weighed by their runs") {
  graph in{ops()};
  auto* node = add(in, {.op = "Neg", .inputs = {constant(in, 1.0f)}}).node;
  cost_model costs;
  CHECK(costs.empty());
  costs.record(*node, 100, 3);
  costs.record(*node, 500);
  CHECK(costs.nanoseconds(*node) == 200);
  costs.record(*node, 1e9, 0); // nothing was measured
  CHECK(costs.nanoseconds(*node) == 200);
  REQUIRE(costs.measured().size() == 1);
  CHECK(costs.measured()[0].runs == 4);

  cost_model other;
  other.add(costs.measured()[0]);
  CHECK(other.nanoseconds(*node) == 200);
}
