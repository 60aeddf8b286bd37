// QuantizedMatMul: the product of two matrices of bytes.
#include "troupe/ops/matmul/matmul.hpp"
#include "troupe/ops/quantized/shared/quantized_range.hpp"

namespace troupe::ops::quantized_matmul_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto product, infer_matmul(at));
  return infer_quantized(at, product[0], 2);
}

} // namespace

extern constexpr op_def quantized_matmul{
    .name = "QuantizedMatMul",
    .doc = "Multiplies two matrices of bytes that stand for ranges of real numbers.\n\n"
           "The sums are exact whole numbers, that wrap around at 32 bits; min_out and max_out say "
           "what the ends of their type stand for. A range must be finite, its maximum larger than "
           "its minimum. It is fastest where the ranges have 0.",
    .inputs = {{"a", "T1"},
               {"b", "T2"},
               {"min_a", "f32"},
               {"max_a", "f32"},
               {"min_b", "f32"},
               {"max_b", "f32"}},
    .outputs = {{"out", "Toutput"}, {"min_out", "f32"}, {"max_out", "f32"}},
    .attrs = {{"T1", byte_types},
              {"T2", byte_types},
              {"Toutput", one_of(dtype::i32), dtype::i32},
              {"transpose_a", false},
              {"transpose_b", false},
              {"Tactivation", byte_types, dtype::u8}},
    .infer = infer,
    .flops = matmul_flops,
    .no_gradient = "whole numbers have none",
    .example = R"(
a = u8[[0, 10, 20], [30, 40, 50]]
b = u8[[128], [138], [118]]
y = QuantizedMatMul(a, b, f32(0), f32(255), f32(-128), f32(127))
fetch y = i32[[-100], [-100]]
fetch y:1 = f32(-2147483648)
fetch y:2 = f32(2147483647)
)",
};

} // namespace troupe::ops::quantized_matmul_op
