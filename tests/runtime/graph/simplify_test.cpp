#include "tests/support/catch.hpp"
#include "tests/support/pass_case.hpp"

namespace troupe::test::simplify_test {

namespace {

// The simplified text of `y`, where x is f32 of the given shape.
std::string simplified(std::string_view shape, std::string_view lines) {
  pass_case at{concat("x = Placeholder dtype=f32 shape=", shape, "\n", lines,
                      "\nfeed x = f32{2,3}[1]\nfetch y\n")};
  simplify(at.closed);
  return at.written();
}

constexpr auto nothing_left = "->_feed_0";

} // namespace

TEST_CASE(
    "adding and subtracting nothing, multiplying and dividing by one, and likes of it go away") {
  for (auto line :
       {"y = Add(x, f32(0))", "y = Add(f32(0), x)", "y = Sub(x, f32(0))", "y = Mul(x, f32(1))",
        "y = Mul(f32(1), x)", "y = Div(x, f32(1))", "y = RealDiv(x, f32(1))", "y = Pow(x, f32(1))",
        "a = Neg(x)\ny = Neg(a)", "a = Identity(x)\ny = Identity(a)", "y = StopGradient(x)",
        "y = Cast(x) DstT=f32", "y = Sum(x, i32{0}[])", "y = Add(x, f32[[0, 0, 0]])",
        "y = Mul(x, f32[1, 1, 1])"}) {
    INFO(line);
    CHECK(simplified("[-1,3]", line) == nothing_left);
  }
}

TEST_CASE("an operand that broadcasts the other one is not removed") {
  for (auto line :
       {"y = Add(x, f32{2,3}[0])", "y = Mul(x, f32{1,1,1}[1])", "y = Sub(x, f32[[0], [0]])"}) {
    INFO(line);
    CHECK(simplified("[-1,3]", line).find("y=") != std::string::npos);
  }
  CHECK(simplified("[2,3]", "y = Add(x, f32{2,3}[0])") == nothing_left);
  CHECK(simplified("?", "y = Add(x, f32[0])").find("y=Add") != std::string::npos);
  CHECK(simplified("?", "y = Add(x, f32(0))") == nothing_left);
}

TEST_CASE("a product with zero is zero for integers only") {
  CHECK(simplified("[2,3]", "y = Mul(x, f32{2,3}[0])").find("y=Mul") != std::string::npos);
  pass_case at{R"(
x = Placeholder dtype=i32 shape=[]
y = Mul(x, i32[0, 0])
feed x = i32(7)
fetch y = i32[0, 0]
)"};
  simplify(at.closed);
  CHECK(at.written() == "Const=Const() ->Const");
}

TEST_CASE("a bias along the last axis is added like any other row, if its length is known") {
  auto is_add = [](const std::string& text) { return text.find("y=Add(_feed_0,") != text.npos; };
  CHECK(is_add(simplified("[-1,3]", "y = BiasAdd(x, f32[1, 2, 3])")));
  CHECK(!is_add(simplified("[-1,-1]", "y = BiasAdd(x, f32[1, 2, 3])")));
  CHECK(!is_add(simplified("[2,3]", "y = BiasAdd(x, f32[1, 2, 3]) data_format=\"NCHW\"")));
}

TEST_CASE("a cast to a wider type and back is removed, a cast to a narrower type is not") {
  auto there_and_back = [](std::string_view from, std::string_view through) {
    pass_case at{concat("x = Placeholder dtype=", from, " shape=[2]\na = Cast(x) DstT=", through,
                        "\ny = Cast(a) DstT=", from, "\nfeed x = ", from, "[1, 2]\nfetch y\n")};
    simplify(at.closed);
    return at.written();
  };
  for (auto [from, through] :
       {std::pair{"f16", "f32"}, {"bf16", "f32"}, {"bf16", "f64"}, {"f32", "f64"}})
    CHECK(there_and_back(from, through) == nothing_left);
  for (auto [from, through] :
       {std::pair{"f32", "f16"}, {"f16", "bf16"}, {"bf16", "f16"}, {"f64", "f32"}, {"f32", "i32"}})
    CHECK(there_and_back(from, through) != nothing_left);
}

TEST_CASE("products of a value with itself become squares") {
  CHECK(simplified("[2,3]", "y = Mul(x, x)") == "y=Square(_feed_0) ->y");
  CHECK(simplified("[2,3]", "y = Pow(x, f32(2))") == "y=Square(_feed_0) ->y");
  CHECK(simplified("[2,3]", "y = Pow(x, f32(3))").find("y=Pow") != std::string::npos);
}

TEST_CASE("transposes cancel, merge, and are removed when they change nothing") {
  CHECK(simplified("[2,3]", "a = Transpose(x, i32[1, 0])\ny = Transpose(a, i32[1, 0])") ==
        nothing_left);
  CHECK(simplified("[2,3]", "y = Transpose(x, i32[0, 1])") == nothing_left);
  CHECK(simplified("[2,3]", "y = Transpose(x, i32[-2, -1])") == nothing_left);
  pass_case at{R"(
x = f32{1,2,3}[1]
a = Transpose(x, i32[1, 2, 0])
y = Transpose(a, i32[1, 2, 0])
fetch y
)"};
  auto dims = at["y"].output_shape(0);
  simplify(at.closed);
  CHECK(at["y"].op().name == "Transpose");
  CHECK(is_same_edge(at["y"].inputs()[0], edge{&at["x"], 0}));
  CHECK(at["y"].output_shape(0) == dims);
}

TEST_CASE("of several reshapes only the last is needed") {
  CHECK(simplified("[2,3]", "a = Reshape(x, i32[3, 2])\ny = Reshape(a, i32[6])")
            .ends_with("y=Reshape(_feed_0,Const_1) ->y"));
  CHECK(simplified("[-1,3]", "a = Reshape(x, i32[-1])\ny = Reshape(a, i32[-1, 3])") ==
        nothing_left);
  CHECK(simplified("[2,3]", "y = Reshape(x, i32[2, -1])") == nothing_left);
  // The first reshape may fail in a run, and must still fail.
  CHECK(simplified("[-1,3]", "a = Reshape(x, i32[-1, 2])\ny = Reshape(a, i32[-1])")
            .find("a=Reshape") != std::string::npos);
}

TEST_CASE("a removed node's transfer mode is kept") {
  auto reshapes = "a = Reshape(x, i32[-1]) _f32_transfer=\"exact\"\ny = Reshape(a, i32[3, 2])";
  CHECK(simplified("[2,3]", reshapes).find("a=Reshape(_feed_0,") != std::string::npos);
  CHECK(simplified("[2,3]", reshapes).find("y=Reshape(a,") != std::string::npos);
  auto twice = "a = Neg(x) _f32_transfer=\"rounded\"\ny = Neg(a)";
  CHECK(simplified("[2,3]", twice) != nothing_left);
}

TEST_CASE("no node stops waiting for an effect") {
  pass_case at{R"(
q = FIFOQueue component_types=[i32] shapes=[[]]
d = QueueDequeue(q) component_types=[i32]
zero = Mul(d, i32(0))
late = Neg(i32(1), ^zero)
fetch late
)"};
  simplify(at.closed);
  CHECK(at["late"].controls() == std::vector{&at["zero"]});
  pass_case through{R"(
q = FIFOQueue component_types=[i32] shapes=[[]]
d = QueueDequeue(q) component_types=[i32]
same = Add(d, i32(0))
late = Neg(i32(1), ^same)
fetch late
)"};
  simplify(through.closed);
  CHECK(through["late"].controls() == std::vector{&through["d"]});
}

TEST_CASE("a value read from a variable stays a read") {
  pass_case at{R"(
v = VariableV2 dtype=f32 shape=[]
y = Identity(v)
fetch y
)"};
  simplify(at.closed);
  CHECK(at.written() == "v=VariableV2() y=Identity(v) ->y");
}

TEST_CASE("a target that is simplified is still run") {
  pass_case at{R"(
x = f32(1)
y = Identity(x)
target y
)"};
  simplify(at.closed);
  CHECK(at.written() == "x=Const()");
  CHECK(at.closed.targets == std::vector{&at["x"]});
}

} // namespace troupe::test::simplify_test
