#include "troupe/runtime/program/order_effects.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/test_steps.hpp"
#include "troupe/runtime/passes/prune.hpp"

#include <algorithm>

namespace troupe::test::order_effects_test {

namespace {

struct scene {
  graph in{ops()};
  edge v = add(in, {.op = "Variable", .attrs = {{"dtype", dtype::i64}, {"shape", shape{}}}});
  edge one = constant(in, int64_t{1});
  edge update(edge with) { return add(in, {.op = "AssignAdd", .inputs = {v, with}}); }
  edge read() { return add(in, {.op = "Neg", .inputs = {v}}); }
};

bool waits_for(edge later, edge before) {
  return std::ranges::count(later.node->controls(), before.node) == 1;
}

} // namespace

TEST_CASE("an update waits for the reads and updates that stand before it") {
  scene s;
  auto early = s.read(), first = s.update(s.one), between = s.read(), second = s.update(s.one);
  order_effects(s.in, false);
  CHECK(waits_for(first, early));
  CHECK(waits_for(second, between));
  CHECK(waits_for(second, first));
  CHECK(!waits_for(between, first));
}

TEST_CASE("strictly, reads wait for the updates before them, too") {
  scene s;
  auto first = s.update(s.one), late = s.read();
  order_effects(s.in, true);
  CHECK(waits_for(late, first));
}

TEST_CASE("a fetched variable has the value that the step leaves it with") {
  scene s;
  auto first = s.update(s.one);
  auto fetch = add(s.in, {.op = "_Fetch", .inputs = {s.v}, .attrs = {{"index", 0}}});
  order_effects(s.in, false);
  CHECK(waits_for(fetch, first));
}

TEST_CASE("a step reads a variable before it updates it, unless the read depends on the update") {
  scene s;
  auto first = s.update(s.one); // added before the read
  auto independent = s.read(), after = add(s.in, {.op = "Neg", .inputs = {first}});
  auto order = prune(s.in, {.feeds = {}, .fetches = {after, independent}, .targets = {first.node}});
  REQUIRE(order);
  auto place = [&](edge of) { return std::ranges::find(*order, of.node) - order->begin(); };
  CHECK(place(independent) < place(first));
  CHECK(place(first) < place(after));
}

} // namespace troupe::test::order_effects_test
