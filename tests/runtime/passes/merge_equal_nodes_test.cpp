#include "tests/support/catch.hpp"
#include "tests/support/pass_case.hpp"

namespace troupe::test::merge_equal_nodes_test {

namespace {

std::string merged(std::string_view text) {
  pass_case at{text};
  merge_equal_nodes(at.closed);
  return at.written();
}

} // namespace

TEST_CASE("equal expressions of any depth are computed once") {
  CHECK(merged(R"(
x = Placeholder dtype=f32 shape=[]
a = Neg(x)
b = Neg(x)
c = Exp(a)
d = Exp(b)
y = Sub(c, d)
feed x = f32(1)
fetch y = f32(0)
)") == "a=Neg(_feed_0) c=Exp(a) y=Sub(c,c) ->y");
}

TEST_CASE("operands of a commutative op may be exchanged, those of other ops may not") {
  CHECK(merged(R"(
x = Placeholder dtype=f32 shape=[]
y = Placeholder dtype=f32 shape=[]
a = Add(x, y)
b = Add(y, x)
c = Sub(x, y)
d = Sub(y, x)
feed x = f32(1)
feed y = f32(2)
fetch a
fetch b
fetch c
fetch d
)") == "a=Add(_feed_0,_feed_1) c=Sub(_feed_0,_feed_1) d=Sub(_feed_1,_feed_0) ->a ->a ->c ->d");
  CHECK(merged(R"(
x = Placeholder dtype=string shape=[]
y = Placeholder dtype=string shape=[]
a = Add(x, y)
b = Add(y, x)
feed x = string("a")
feed y = string("b")
fetch a
fetch b
)")
            .find("b=Add(") != std::string::npos);
}

TEST_CASE("equal constants are merged, different ones are not") {
  CHECK(merged("a = f32[1, 2]\nb = f32[1, 2]\nfetch a\nfetch b") == "a=Const() ->a ->a");
  CHECK(merged("a = f32[1, 2]\nb = f32[1, 3]\nfetch a\nfetch b") == "a=Const() b=Const() ->a ->b");
  CHECK(merged("a = f32[1, 2]\nb = f32[[1, 2]]\nfetch a\nfetch b") ==
        "a=Const() b=Const() ->a ->b");
}

TEST_CASE("nodes with different attributes, devices or controls are not merged") {
  for (auto difference :
       {"a = Sum(x, i32[0]) keep_dims=true\nb = Sum(x, i32[0])\n",
        "a = Neg(x)\nb = Neg(x) @\"/cpu:0\"\n", "n = NoOp()\na = Neg(x)\nb = Neg(x, ^n)\n"}) {
    INFO(difference);
    auto text = merged(concat("x = Placeholder dtype=f32 shape=[2]\n", difference,
                              "feed x = f32[1, 2]\nfetch a\nfetch b\n"));
    CHECK(text.ends_with("->a ->b"));
  }
}

TEST_CASE("random numbers and reads of variables are never merged") {
  CHECK(merged(R"(
a = RandomUniform(i32[2]) dtype=f32
b = RandomUniform(i32[2]) dtype=f32
fetch a
fetch b
)")
            .ends_with("->a ->b"));
  CHECK(merged(R"(
v = VariableV2 dtype=f32 shape=[]
a = Neg(v)
b = Neg(v)
fetch a
fetch b
)")
            .ends_with("->a ->b"));
}

} // namespace troupe::test::merge_equal_nodes_test
