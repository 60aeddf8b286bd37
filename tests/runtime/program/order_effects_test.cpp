#include "troupe/runtime/program/order_effects.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/test_steps.hpp"
#include "troupe/runtime/passes/prune.hpp"

#include <algorithm>

namespace troupe::test::order_effects_test {

namespace {

struct variable_graph {
  graph in{ops()};
  edge v = add(in, {.op = "Variable", .attrs = {{"dtype", dtype::i64}, {"shape", shape{}}}});
  edge unit = constant(in, int64_t{1});
  edge update(edge amount) { return add(in, {.op = "AssignAdd", .inputs = {v, amount}}); }
  edge read() { return add(in, {.op = "Neg", .inputs = {v}}); }
};

bool waits_for(edge later, edge earlier) {
  return std::ranges::count(later.node->controls(), earlier.node) == 1;
}

} // namespace

TEST_CASE("an update waits for the reads and updates before it") {
  variable_graph s;
  auto early = s.read(), first = s.update(s.unit), between = s.read(), second = s.update(s.unit);
  order_effects(s.in, false);
  CHECK(waits_for(first, early));
  CHECK(waits_for(second, between));
  CHECK(waits_for(second, first));
  CHECK(!waits_for(between, first));
}

TEST_CASE("in strict mode, reads wait for the updates before them, too") {
  variable_graph s;
  auto first = s.update(s.unit), late = s.read();
  order_effects(s.in, true);
  CHECK(waits_for(late, first));
}

TEST_CASE("a fetched variable has its value at the end of the step") {
  variable_graph s;
  auto first = s.update(s.unit);
  auto fetch = add(s.in, {.op = "_Fetch", .inputs = {s.v}, .attrs = {{"index", 0}}});
  order_effects(s.in, false);
  CHECK(waits_for(fetch, first));
}

TEST_CASE("a step reads a variable before it updates it, unless the read depends on the update") {
  variable_graph s;
  auto first_update = s.update(s.unit); // added before the read
  auto independent = s.read(), after = add(s.in, {.op = "Neg", .inputs = {first_update}});
  auto order =
      prune(s.in, {.feeds = {}, .fetches = {after, independent}, .targets = {first_update.node}});
  REQUIRE(order);
  auto place = [&](edge source) { return std::ranges::find(*order, source.node) - order->begin(); };
  CHECK(place(independent) < place(first_update));
  CHECK(place(first_update) < place(after));
}

} // namespace troupe::test::order_effects_test
