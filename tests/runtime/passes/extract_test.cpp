#include "tests/support/catch.hpp"
#include "tests/support/pass_case.hpp"
#include "troupe/runtime/passes/extract.hpp"

namespace troupe::test::extract_test {

TEST_CASE("a closed graph has the nodes that the step needs, and nodes for its feeds and fetches") {
  pass_case at{R"(
x = Placeholder dtype=f32 shape=[-1]
one = f32(1)
sum = Add(x, one)
unused = Neg(sum)
feed x = f32[1, 2]
fetch sum = f32[2, 3]
fetch x = f32[1, 2]
)"};
  CHECK(at.written() == "one=Const() sum=Add(_feed_0,one) ->sum ->_feed_0");
  CHECK(at["_feed_0/x"].output_shape(0) == partial_shape{-1});
  CHECK(at["_fetch_1"].attr<int64_t>("index") == 1);
}

TEST_CASE("closing keeps names, devices and origins, and leaves the user's graph as it was") {
  pass_case at{R"(
one = f32(1)
sum = Add(one, one) @"/cpu:0"
target sum
)"};
  auto* original = at.text.nodes->find("sum");
  CHECK(at["sum"].description() == original->description());
  CHECK(at["sum"].device() == "/cpu:0");
  CHECK(&at["sum"].graph() != &original->graph());
  CHECK(at.text.nodes->find("_fetch_0") == nullptr);
  CHECK(at.closed.targets == std::vector{&at["sum"]});
}

TEST_CASE("a control edge from a fed placeholder is dropped") {
  pass_case at{R"(
x = Placeholder dtype=f32 shape=[]
a = f32(1)
b = Neg(a, ^x)
feed x = f32(1)
fetch b
)"};
  CHECK(at.written() == "a=Const() b=Neg(a) ->b");
}

TEST_CASE("a copy of a closed graph is the same, and has nodes of its own") {
  pass_case at{R"(
x = Placeholder dtype=f32 shape=[-1]
one = f32(1) @"/cpu:0"
sum = Add(x, one, ^one)
feed x = f32[1, 2]
fetch sum = f32[2, 3]
target sum
)"};
  auto copy = copy_of(at.closed);
  REQUIRE(copy.nodes->nodes().size() == at.closed.nodes->nodes().size());
  for (size_t i = 0; i < copy.nodes->nodes().size(); ++i) {
    const auto &copied = *copy.nodes->nodes()[i], &original = *at.closed.nodes->nodes()[i];
    CHECK(copied.description() == original.description());
    CHECK(copied.device() == original.device());
    CHECK(&copied.graph() == copy.nodes.get());
    REQUIRE(copied.inputs().size() == original.inputs().size());
    for (size_t k = 0; k < copied.inputs().size(); ++k)
      CHECK(copied.inputs()[k].node == copy.nodes->find(original.inputs()[k].node->name()));
    CHECK(copied.controls().size() == original.controls().size());
  }
  CHECK(copy.targets == std::vector{copy.nodes->find("sum")});
}

} // namespace troupe::test::extract_test
