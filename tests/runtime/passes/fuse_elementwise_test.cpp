#include "tests/support/catch.hpp"
#include "tests/support/pass_case.hpp"

#include <map>

namespace troupe::test::fuse_elementwise_test {

namespace {

std::string fused(std::string_view text) {
  pass_case at{text};
  fuse_elementwise(at.closed, device_kind::cpu);
  return at.written();
}

} // namespace

TEST_CASE("a chain of element-wise ops becomes one node with the name of its last op") {
  pass_case at{R"(
x = Placeholder dtype=f32 shape=[-1,3]
a = Mul(x, f32(2))
b = Add(a, f32[1, 2, 3])
y = Tanh(b)
feed x = f32[[1, 2, 3]]
fetch y
)"};
  auto origin = at["y"].description();
  fuse_elementwise(at.closed, device_kind::cpu);
  CHECK(at.written() == "Const=Const() Const_1=Const() y=_Fused(_feed_0,Const,Const_1) ->y");
  CHECK(at["y"].attr<std::vector<std::string>>("ops") ==
        std::vector<std::string>{"Mul", "Add", "Tanh"});
  CHECK(at["y"].attr<std::vector<int64_t>>("operands") == std::vector<int64_t>{0, 1, 3, 2, 4});
  CHECK(at["y"].attr<std::vector<std::string>>("origins")[2] == origin);
  CHECK(at["y"].output_shape(0) == partial_shape{-1, 3});
}

TEST_CASE("a value that is read, fetched or waited for elsewhere is computed separately") {
  constexpr auto start = "x = Placeholder dtype=f32 shape=[3]\na = Neg(x)\n";
  constexpr auto end = "\nfeed x = f32[1, 2, 3]\nfetch y\n";
  CHECK(fused(concat(start, "y = Exp(a)", end)) == "y=_Fused(_feed_0) ->y");
  CHECK(fused(concat(start, "y = Exp(a)", end, "fetch a")).find("a=Neg") != std::string::npos);
  CHECK(fused(concat(start, "y = Exp(a)", end, "target a")).find("a=Neg") != std::string::npos);
  CHECK(fused(concat(start, "s = Sum(a, i32[0])\nb = Exp(a)\ny = Sub(b, s)", end)).find("a=Neg") !=
        std::string::npos);
  CHECK(fused(concat(start, "y = Exp(x, ^a)", end)).find("a=Neg") != std::string::npos);
}

TEST_CASE("a value that is read twice inside is computed once inside") {
  CHECK(fused(R"(
x = Placeholder dtype=f32 shape=[3]
a = Neg(x)
b = Exp(a)
y = Mul(a, b)
feed x = f32[1, 2, 3]
fetch y
)") == "y=_Fused(_feed_0) ->y");
}

TEST_CASE("two expressions that read the same value stay separate") {
  CHECK(fused(R"(
x = Placeholder dtype=f32 shape=[3]
a = Neg(x)
b = Exp(a)
y = Log(b)
z = Abs(b)
w = Sqrt(z)
feed x = f32[1, 2, 3]
fetch y
fetch w
)") == "b=_Fused(_feed_0) y=Log(b) w=_Fused(b) ->y ->w");
}

TEST_CASE("values of another shape are computed outside") {
  CHECK(fused(R"(
x = Placeholder dtype=f32 shape=[2,3]
s = Placeholder dtype=f32 shape=[]
a = Neg(s)
b = Exp(a)
y = Mul(x, b)
feed x = f32{2,3}[1]
feed s = f32(1)
fetch y
)") == "b=_Fused(_feed_1) y=Mul(_feed_0,b) ->y");
}

TEST_CASE("a fused node waits for the controls of its inner nodes") {
  CHECK(fused(R"(
v = VariableV2 dtype=f32 shape=[3]
set = Assign(v, f32[1, 2, 3])
x = Placeholder dtype=f32 shape=[3]
a = Neg(x, ^set)
y = Exp(a)
feed x = f32[1, 2, 3]
fetch y
)")
            .find("y=_Fused(_feed_0,^set)") != std::string::npos);
}

TEST_CASE("a read of a variable does not move behind a later update") {
  CHECK(fused(R"(
v = VariableV2 dtype=f32 shape=[3]
a = Neg(v)
set = Assign(v, f32[1, 2, 3])
y = Exp(a, ^set)
fetch y
)")
            .find("a=Neg(v)") != std::string::npos);
  CHECK(fused(R"(
v = VariableV2 dtype=f32 shape=[3]
a = Neg(v)
y = Exp(a)
set = Assign(v, f32[1, 2, 3])
fetch y
target set
)")
            .find("y=_Fused(v)") != std::string::npos);
}

TEST_CASE("strings, state and divisions that may fail are not fused") {
  CHECK(fused(R"(
s = Placeholder dtype=string shape=[]
a = Add(s, s)
y = Add(a, a)
feed s = string("a")
fetch y
)")
            .find("_Fused") == std::string::npos);
  CHECK(fused(R"(
x = Placeholder dtype=i32 shape=[]
a = Neg(x)
b = Div(a, x)
y = Neg(b)
feed x = i32(1)
fetch y
)")
            .find("_Fused") == std::string::npos);
}

TEST_CASE("expressions are of limited size") {
  std::string text = "x = Placeholder dtype=f32 shape=[3]\nn0 = Neg(x)\n";
  for (int i = 1; i < 100; ++i)
    text += concat("n", i, " = Neg(n", i - 1, ")\n");
  auto fused_text = fused(concat(text, "feed x = f32[1, 2, 3]\nfetch n99\n"));
  size_t count = 0;
  for (auto at = fused_text.find("_Fused"); at != fused_text.npos;
       at = fused_text.find("_Fused", at + 1))
    ++count;
  CHECK(count == 4);
  CHECK(fused_text.find("Neg") == fused_text.npos);
}

} // namespace troupe::test::fuse_elementwise_test
