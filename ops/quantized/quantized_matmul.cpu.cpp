#include "troupe/ops/matmul/shared/matmul_kernels.hpp"
#include "troupe/ops/quantized/shared/byte_products.cpu.hpp"
#include "troupe/ops/quantized/shared/int8_product.cpu.hpp"

namespace troupe::ops::quantized_matmul_cpu {
namespace {

status multiply_quantized(kernel_context& at, const matrix_product& product,
                          const quantized_operand& a, const quantized_operand& b, tensor& out) {
  TROUPE_ASSIGN(auto bytes, as_byte_operands(at, a, b));
  if (!bytes.fit()) {
    TROUPE_ASSIGN(auto wide_a, from_zero_on(at, a));
    TROUPE_ASSIGN(auto wide_b, from_zero_on(at, b));
    return multiply(at, product, wide_a, wide_b, out);
  }
  return multiply_bytes(at, {.transpose_a = product.a.transpose,
                             .transpose_b = product.b.transpose,
                             .m = product.m,
                             .n = product.n,
                             .k = product.k,
                             .a = bytes.a.values.data<uint8_t>(),
                             .b = bytes.b.values.data<int8_t>(),
                             .c = out.data<int32_t>(),
                             .zero_a = static_cast<uint8_t>(bytes.a.zero),
                             .zero_b = static_cast<int8_t>(bytes.b.zero)});
}

status run(kernel_context& at) {
  const auto &a = at.input(0), &b = at.input(1);
  if (a.rank() != 2 || b.rank() != 2)
    return invalid("takes two matrices, got shapes ", a.dims(), " and ", b.dims());
  TROUPE_ASSIGN(auto range_a, wide_range_at(at, 2, a.type()));
  TROUPE_ASSIGN(auto range_b, wide_range_at(at, 4, b.type()));
  const auto& across = at.state<transposition>();
  TROUPE_ASSIGN(auto plan, plan_product(a.dims(), {across.a}, b.dims(), {across.b}));
  TROUPE_ASSIGN(auto* out, at.allocate(0, plan.dims));
  TROUPE_TRY(give_range(at, range_of_products(range_a, range_b)));
  return multiply_quantized(at, plan.what, {a, range_a.zero()}, {b, range_b.zero()}, *out);
}

} // namespace

extern constexpr kernel_def quantized_matmul_cpu{
    .op = "QuantizedMatMul",
    .run = {{dtype::none, run}},
    .key = "T1",
    .prepare = prepare_matmul,
};

} // namespace troupe::ops::quantized_matmul_cpu
