#include "tests/support/catch.hpp"
#include "tests/support/pass_case.hpp"

#include <algorithm>

namespace troupe::test::hoist_collectives_test {

namespace {

constexpr auto text = R"(
x = Placeholder dtype=f32 shape=[2,2]
w = VariableV2 dtype=f32 shape=[2,2]
last = Neg(x)
middle = Exp(last)
first = Tanh(middle)
flat_last = Reshape(last, i32[-1])
flat_middle = Reshape(middle, i32[-1])
packed = ConcatV2(flat_last, flat_middle, i32(0))
a = CollectiveReduce(packed) group_size=1 group_key=1 instance_key=1 merge_op="Add" final_op="Id"
b = CollectiveReduce(first) group_size=1 group_key=1 instance_key=2 merge_op="Add" final_op="Id"
c = CollectiveReduce(w) group_size=1 group_key=1 instance_key=3 merge_op="Add" final_op="Id"
feed x = f32[[1, 2], [3, 4]]
fetch a
fetch b
fetch c
)";

} // namespace

TEST_CASE("a collective starts right after its inputs, and nodes that only it needs come first") {
  pass_case at{text};
  hoist_collectives(at.closed);
  auto written = at.written();
  INFO(written);
  auto place = [&](std::string_view node_name) {
    auto position = written.find(node_name);
    REQUIRE(position != std::string::npos);
    return position;
  };
  CHECK(place("middle=Exp") < place("packed=ConcatV2"));
  CHECK(place("flat_last=Reshape") < place("middle=Exp"));
  CHECK(place("a=CollectiveReduce") < place("first=Tanh"));
  CHECK(place("first=Tanh") < place("b=CollectiveReduce"));
  // It sees the variable in the same state among its updates.
  CHECK(place("b=CollectiveReduce") < place("c=CollectiveReduce"));
}

TEST_CASE("a tensor for another task is sent when it exists, not when the graph reads it") {
  pass_case at{R"(
x = Placeholder dtype=f32 shape=[2,2]
last = Neg(x)
middle = Exp(last)
first = Tanh(middle)
flat_last = Reshape(last, i32[-1])
flat_first = Reshape(first, i32[-1])
a = Neg(flat_last)
b = Neg(flat_first)
feed x = f32[[1, 2], [3, 4]]
fetch a
fetch b
fetch first
)"};
  std::vector<int> chosen;
  for (const auto& added : at.closed.nodes->nodes())
    chosen.push_back(added->name() == "a" || added->name() == "b"                  ? 1
                     : added->op().name == "_Feed" || added->op().name == "_Fetch" ? -1
                                                                                   : 0);
  auto parts = *cut(*at.closed.nodes, chosen, {{"worker", 0, "cpu", 0}, {"worker", 1, "cpu", 0}});
  REQUIRE(parts.size() == 2);
  auto options = pass_options::none();
  auto order_of = [&] {
    std::vector<std::string> order;
    for (const auto& added : parts[0].nodes->nodes())
      order.push_back(added->op().name == "_Send" ? "sends " + added->inputs()[0].node->name()
                                                  : added->name());
    return order;
  };
  auto place = [&](const std::string& node_name) {
    auto order = order_of();
    auto position = std::ranges::find(order, node_name);
    REQUIRE(position != order.end());
    return position - order.begin();
  };
  CHECK(place("sends flat_last") > place("first"));
  options.hoist_collectives = true;
  REQUIRE(optimize(parts[0], options).ok());
  CHECK(place("flat_last") < place("middle"));
  CHECK(place("sends flat_last") < place("middle"));
  CHECK(place("sends flat_first") > place("first"));
}

TEST_CASE("a graph that only serves collectives keeps its order") {
  pass_case at{R"(
x = Placeholder dtype=f32 shape=[2]
a = Neg(x)
b = Exp(x)
c = Tanh(a)
d = Tanh(b)
e = Neg(c)
f = Neg(d)
g = Tanh(e)
h = Add(f, g)
r = CollectiveReduce(h) group_size=1 group_key=1 instance_key=1 merge_op="Add" final_op="Id"
feed x = f32[1, 2]
fetch r
)"};
  auto original = at.written();
  hoist_collectives(at.closed);
  auto hoisted = at.written();
  for (const auto* pair : {"a=Neg", "b=Exp", "c=Tanh", "d=Tanh"})
    CHECK(original.find(pair) == hoisted.find(pair));
}

TEST_CASE("a graph without collectives keeps its order") {
  pass_case at{"x = Placeholder dtype=f32 shape=[2]\ny = Neg(x)\nz = Exp(x)\n"
               "feed x = f32[1, 2]\nfetch y\nfetch z"};
  auto original = at.written();
  auto version = at.closed.nodes->version();
  hoist_collectives(at.closed);
  CHECK(at.written() == original);
  CHECK(at.closed.nodes->version() == version);
}

} // namespace troupe::test::hoist_collectives_test
