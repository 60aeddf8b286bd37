#include "tests/support/catch.hpp"
#include "tests/support/pass_case.hpp"

namespace troupe::test::remove_dead_nodes_test {

namespace {

std::string cleaned(std::string_view text) {
  pass_case at{text};
  remove_dead_nodes(at.closed);
  return at.written();
}

} // namespace

TEST_CASE("a node that only orders others is replaced by its dependencies") {
  CHECK(cleaned(R"(
v = VariableV2 dtype=f32 shape=[]
set = Assign(v, f32(1))
group = NoOp(^set)
x = f32(2)
y = Neg(x, ^group)
fetch y
)") == "v=VariableV2() Const=Const() x=Const() set=Assign(v,Const) y=Neg(x,^set) ->y");
}

TEST_CASE("redundant control edges are removed") {
  CHECK(cleaned(R"(
x = Placeholder dtype=f32 shape=[]
c = f32(1)
a = Neg(x)
y = Add(a, c, ^a, ^c)
feed x = f32(1)
fetch y
)") == "c=Const() a=Neg(_feed_0) y=Add(a,c) ->y");
}

TEST_CASE("targets are kept, with their order") {
  CHECK(cleaned(R"(
v = VariableV2 dtype=f32 shape=[]
set = Assign(v, f32(1))
group = NoOp(^set)
target group
)")
            .ends_with("group=NoOp(^set)"));
}

TEST_CASE("a group node between many nodes and many nodes stays") {
  std::string text = "v = VariableV2 dtype=f32 shape=[]\n", waits;
  for (int i = 0; i < 5; ++i) {
    text += concat("set", i, " = Assign(v, f32(1))\n");
    waits += concat(i ? ", " : "", "^set", i);
  }
  text += concat("group = NoOp(", waits, ")\nx = f32(1)\n");
  for (int i = 0; i < 5; ++i)
    text += concat("y", i, " = Neg(x, ^group)\nfetch y", i, '\n');
  CHECK(cleaned(text).find("y4=Neg(x,^group)") != std::string::npos);
}

} // namespace troupe::test::remove_dead_nodes_test
