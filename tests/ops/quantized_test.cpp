#include "tests/ops/every_op.hpp"
#include "tests/support/catch.hpp"
#include "troupe/devices/cpu/cpu_device.hpp"

namespace troupe::test::quantized_test {

namespace {

void holds(std::string_view text) {
  auto device = make_cpu_device({.intra_op_threads = 2});
  for (const auto& failure_text : differences_of(library(), text, *device))
    FAIL_CHECK(failure_text);
}

// Bytes a and b of many values, and their distance from 0 as whole numbers. The ranges of the
// products below place zero at 128 and 64.
std::string operands(int64_t count_a, std::string_view dims_a, int64_t count_b,
                     std::string_view dims_b) {
  auto operand = [](std::string_view name, int64_t count, std::string_view dims, int zero) {
    return concat(name, "_range = Range(i32(0), i32(", count, "), i32(1))\n", name, "_many = Mul(",
                  name, "_range, i32(7919))\n", name, "_flat = Mod(", name, "_many, i32(256))\n",
                  name, "_whole = Reshape(", name, "_flat, i32", dims, ")\n", name, " = Cast(",
                  name, "_whole) DstT=u8\n", name, "_far = Sub(", name, "_whole, i32(", zero,
                  "))\n");
  };
  return operand("a", count_a, dims_a, 128) + operand("b", count_b, dims_b, 64);
}

} // namespace

TEST_CASE("a product of bytes computed in blocks equals the product of integers") {
  holds(operands(103000, "[1030, 100]", 102400, "[100, 1024]") + R"(
expected = MatMul(a_far, b_far)
y = QuantizedMatMul(a, b, f32(-128), f32(127), f32(-64), f32(191))
difference = Sub(y, expected)
far = Abs(difference)
farthest = Max(far, i32[0, 1])
fetch farthest = i32(0)
)");
}

TEST_CASE("a convolution of bytes computed in blocks equals the one of integers") {
  holds(operands(33600, "[2, 70, 60, 4]", 180, "[3, 3, 4, 5]") + R"(
expected = Conv2D(a_far, b_far) strides=[1, 1, 1, 1] padding="SAME"
y = QuantizedConv2D(a, b, f32(-128), f32(127), f32(-64), f32(191)) strides=[1, 1, 1, 1] padding="SAME"
difference = Sub(y, expected)
far = Abs(difference)
farthest = Max(far, i32[0, 1, 2, 3])
fetch farthest = i32(0)
)");
}

TEST_CASE("ranges of quantized tensors must be in order") {
  holds(R"(
y = QuantizedRelu(u8[1, 2], f32(1), f32(0))
fetch y
error invalid_argument "finite"
)");
  holds(R"(
y = QuantizedMul(u8[1, 2], u8[1, 2], f32(1), f32(1), f32(0), f32(1))
fetch y
error invalid_argument "must be larger than its minimum"
)");
}

} // namespace troupe::test::quantized_test
