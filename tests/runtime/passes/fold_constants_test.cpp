#include "tests/support/catch.hpp"
#include "tests/support/pass_case.hpp"

namespace troupe::test::fold_constants_test {

using namespace std::chrono_literals;

namespace {

std::string folded(std::string_view text) {
  pass_case at{text};
  fold_constants(at.closed, host());
  return at.written();
}

} // namespace

TEST_CASE("a node computed from constants becomes a constant with its name") {
  pass_case at{R"(
x = Placeholder dtype=f32 shape=[2]
two = f32(2)
six = Mul(two, f32(3))
five = Sub(six, f32(1))
y = Mul(x, five)
feed x = f32[1, 2]
fetch y = f32[5, 10]
)"};
  auto origin = at["five"].description();
  fold_constants(at.closed, host());
  CHECK(at.written() == "five=Const() y=Mul(_feed_0,five) ->y");
  REQUIRE(constant_value({&at["five"], 0}));
  CHECK(identical(*constant_value({&at["five"], 0}), tensor::scalar(5.f)));
  CHECK(at["five"].description().substr(at["five"].description().find('(')) ==
        origin.substr(origin.find('(')));
}

TEST_CASE("shapes known at compile time become constants, and so do values computed from them") {
  CHECK(folded(R"(
x = Placeholder dtype=f32 shape=[2,3]
dims = Shape(x)
rows = Slice(dims, i32[0], i32[1])
y = Reshape(x, dims)
feed x = f32{2,3}[1]
fetch rows = i32[2]
fetch y
)") == "dims=Const() rows=Const() y=Reshape(_feed_0,dims) ->rows ->y");
  CHECK(folded(R"(
x = Placeholder dtype=f32 shape=[-1,3]
dims = Shape(x)
feed x = f32{2,3}[1]
fetch dims = i32[2, 3]
)") == "dims=Shape(_feed_0) ->dims");
}

TEST_CASE("a node of several outputs becomes one constant per output") {
  CHECK(folded(R"(
parts = Split(i32(0), f32[1, 2]) num_split=2
sum = Add(parts, parts:1)
fetch sum = f32[3]
)") == "sum=Const() ->sum");
}

TEST_CASE("shapes learned by folding are known to later nodes") {
  pass_case at{R"(
x = Placeholder dtype=f32 shape=[6]
wanted = Add(i32[1, 1], i32[1, 2])
m = Reshape(x, wanted)
y = Neg(m)
dims = Shape(y)
feed x = f32{6}[1]
fetch y
fetch dims = i32[2, 3]
)"};
  CHECK_FALSE(at["y"].output_shape(0).fully_known());
  fold_constants(at.closed, host());
  CHECK(at["y"].output_shape(0) == partial_shape{2, 3});
  CHECK(at["dims"].op().name == "Const");
}

TEST_CASE("folding ends at its deadline, and an interrupted kernel's output is not used") {
  const char* text = R"(
six = Mul(f32(2), f32(3))
big = MatMul(f32{240,40000}[1], f32{40000,240}[1])
sum = Sum(big, i32[0, 1])
fetch six
fetch sum
)";
  stop_signal over{stop_signal::clock::now()};
  pass_case late{text};
  fold_constants(late.closed, host(), &over);
  CHECK(late["six"].op().name == "Mul");
  for (auto remaining : {0us, 500us, 2000us}) { // before the product, or during it
    INFO(remaining.count() << " us");
    pass_case at{text};
    stop_signal soon{stop_signal::clock::now() + remaining};
    fold_constants(at.closed, host(), &soon);
    CHECK(at["big"].op().name == "MatMul");
    CHECK(at["sum"].op().name == "Sum");
  }
}

TEST_CASE("a failing kernel is left for the run") {
  CHECK(folded(R"(
zero = i32(0)
bad = Div(i32(1), zero)
fetch bad
error invalid_argument "divide"
)")
            .find("bad=Div(") != std::string::npos);
}

TEST_CASE("large values, random numbers, state and blocking ops are not folded") {
  CHECK(folded("big = Fill(i32[1000, 1000], f32(1))\nfetch big").find("big=Fill(") !=
        std::string::npos);
  CHECK(folded("r = RandomUniform(i32[2]) dtype=f32\nfetch r").find("r=RandomUniform(") !=
        std::string::npos);
  CHECK(folded(R"(
v = VariableV2 dtype=f32 shape=[2]
dims = Shape(v)
fetch dims
)")
            .find("dims=") != std::string::npos);
  CHECK(folded(R"(
q = FIFOQueue component_types=[f32] shapes=[[2]]
d = QueueDequeue(q) component_types=[f32]
dims = Shape(d)
fetch dims
)")
            .find("d=QueueDequeue(q)") != std::string::npos); // it still takes an element
}

TEST_CASE("a constant keeps its control inputs") {
  CHECK(folded(R"(
v = VariableV2 dtype=f32 shape=[]
set = Assign(v, f32(1))
late = Neg(f32(2), ^set)
fetch late = f32(-2)
)")
            .find("late=Neg(") != std::string::npos);
}

} // namespace troupe::test::fold_constants_test
