#include "troupe/runtime/graph/accesses.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/test_ops.hpp"

namespace troupe::test::accesses_test {

namespace {

struct variables_graph {
  graph in{ops()};
  edge v = variable(), w = variable(),
       one = add(in,
                 {.op = "Const", .attrs = {{"value", tensor::scalar(1.f)}, {"dtype", dtype::f32}}});
  edge variable() {
    return add(in, {.op = "Variable", .attrs = {{"dtype", dtype::f32}, {"shape", shape{}}}});
  }
  edge update(edge target, edge amount, std::vector<node*> controls = {}) {
    return add(in,
               {.op = "AssignAdd", .inputs = {target, amount}, .controls = std::move(controls)});
  }
  edge read(edge target, std::vector<node*> controls = {}) {
    return add(in, {.op = "Neg", .inputs = {target}, .controls = std::move(controls)});
  }
};

} // namespace

TEST_CASE("a node reads its value inputs and updates its reference inputs") {
  variables_graph s;
  auto update = s.update(s.v, s.w);
  auto accesses = accesses_of(*update.node);
  REQUIRE(accesses.size() == 2);
  CHECK((accesses[0].state == s.v.node && accesses[0].updates && !accesses[0].is_read));
  CHECK((accesses[1].state == s.w.node && !accesses[1].updates && accesses[1].is_read));
  auto through = accesses_of(*s.read(update).node);
  REQUIRE(through.size() == 1);
  CHECK((through[0].state == s.v.node && through[0].is_read));
  CHECK(accesses_of(*s.one.node).empty());
  CHECK(uses_state(*update.node));
  CHECK_FALSE(uses_state(*s.one.node));
}

TEST_CASE("a read sees the last update that it depends on, directly or indirectly") {
  variables_graph s;
  auto early = s.read(s.v);
  auto first = s.update(s.v, s.one), second = s.update(s.v, s.one);
  auto by_data = s.read(first), by_control = s.read(s.v, {second.node}), by_none = s.read(s.v);
  auto far = add(s.in, {.op = "Add", .inputs = {s.v, s.read(by_data)}});
  update_order order{s.in};
  const auto& v = *s.v.node;
  CHECK(order.last_seen_by(*early.node, v) == update_order::none);
  CHECK(order.last_seen_by(*by_data.node, v) == first.node->id());
  CHECK(order.last_seen_by(*by_control.node, v) == second.node->id());
  CHECK(order.last_seen_by(*by_none.node, v) == update_order::none);
  CHECK(order.last_seen_by(*far.node, v) == first.node->id());
  CHECK(order.last_seen_by(*far.node, *s.w.node) == update_order::none);
  CHECK(order.last_before(*early.node, v) == update_order::none);
  CHECK(order.last_before(*by_none.node, v) == second.node->id());
  CHECK(order.first_after(update_order::none, v) == first.node->id());
  CHECK(order.first_after(first.node->id(), v) == second.node->id());
  CHECK(order.first_after(second.node->id(), v) == update_order::none);
}

} // namespace troupe::test::accesses_test
