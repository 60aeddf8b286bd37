#include "tests/ops/every_op.hpp"

#include "tests/support/catch.hpp"

namespace troupe::test::nn_test {

namespace {

void holds(std::string_view text) {
  for (const auto& failure_text : differences_of(library(), text, small_device()))
    FAIL_CHECK(failure_text);
}

} // namespace

TEST_CASE("Softmax neither overflows nor hides a NaN") {
  holds(R"(
y = Softmax(f32[[1000, 1000], [-1000, -1000], [0, 1000]])
nan = Softmax(f32[[nan, 1], [inf, 1]])
far = Softmax(f32[-inf, 0])
none = Softmax(f32{2,0}[])
half = Softmax(f16[0, 0])
fetch y = f32[[0.5, 0.5], [0.5, 0.5], [0, 1]]
fetch nan = f32[[nan, nan], [nan, nan]]
fetch far = f32[0, 1]
fetch none = f32{2,0}[]
fetch half = f16[0.5, 0.5]
)");
}

TEST_CASE("LogSoftmax keeps small probabilities") {
  holds(R"(
y = LogSoftmax(f32[[0, -200]])
fetch y = f32[[0, -200]]
)");
}

TEST_CASE("cross entropy with a label outside the classes names the row and the label") {
  holds(R"text(
x = SparseSoftmaxCrossEntropyWithLogits(f32[[1, 2], [3, 4]], i32[0, 2])
fetch x
error invalid_argument "label 2 of row 1 is not in [0, 2)"
)text");
  holds(R"(
x = SparseSoftmaxCrossEntropyWithLogits(f32[[1, 2], [3, 4]], i64[-1, 0])
fetch x
error invalid_argument "label -1 of row 0"
)");
}

TEST_CASE("an impossible class has no cross entropy unless its label is positive") {
  holds(R"(
x = SoftmaxCrossEntropyWithLogits(f32[[-inf, 0], [-inf, 0]], f32[[0, 1], [1, 0]])
fetch x = f32[0, inf]
)");
}

TEST_CASE("BiasAdd and its gradient support both data formats") {
  holds(R"(
x = Placeholder dtype=f32 shape=[1,2,1,3]
last = BiasAdd(x, f32[10, 20, 30])
first = BiasAdd(x, f32[10, 20]) data_format="NCHW"
sums_last = BiasAddGrad(x)
sums_first = BiasAddGrad(x) data_format="NCHW"
feed x = f32[[[[1, 2, 3]], [[4, 5, 6]]]]
fetch last = f32[[[[11, 22, 33]], [[14, 25, 36]]]]
fetch first = f32[[[[11, 12, 13]], [[24, 25, 26]]]]
fetch sums_last = f32[5, 7, 9]
fetch sums_first = f32[6, 15]
)");
  holds(R"(
y = BiasAdd(f32[[1, 2]], f32[1, 2]) data_format="CHWN"
error invalid_argument "data_format must be NHWC or NCHW, got 'CHWN'"
)");
  holds(R"(
y = BiasAdd(f32[[1, 2]], f32[1, 2, 3])
error invalid_argument "bias has 3 elements"
)");
}

TEST_CASE("Relu keeps NaN, and whole numbers") {
  holds(R"(
y = Relu(f32[nan, -inf, inf, -0.5])
z = Relu(i8[-128, 127])
u = Relu(u8[0, 255])
fetch y = f32[nan, 0, inf, 0]
fetch z = i8[0, 127]
fetch u = u8[0, 255]
)");
}

TEST_CASE("InTopK includes ties, and excludes predictions that are not finite") {
  holds(R"(
ties = InTopK(f32[[0.5, 0.5, 0], [0.5, 0.5, 0.6]], i64[1, 1]) k=1
outside = InTopK(f32[[1, 2], [1, 2], [nan, 2], [inf, 2]], i32[2, -1, 1, 1]) k=2
none = InTopK(f32[[1, 2]], i32[1]) k=0
fetch ties = bool[true, false]
fetch outside = bool[false, false, false, false]
fetch none = bool[false]
)");
}

TEST_CASE("L2Loss of an empty tensor is zero") {
  holds(R"(
none = L2Loss(f64{0}[])
many = L2Loss(f32{100000}[1])
fetch none = f64(0)
fetch many = f32(50000)
)");
}

} // namespace troupe::test::nn_test
