// QuantizedMul: the product of bytes that stand for ranges.
#include "troupe/ops/quantized/shared/byte_pairs.hpp"

namespace troupe::ops::quantized_mul_op {

extern constexpr op_def quantized_mul = quantized_arithmetic({
    .name = "QuantizedMul",
    .doc = "Multiplies what bytes stand for, with broadcasting.\n\n"
           "The products are exact whole numbers; min_z and max_z say what the ends of their type "
           "stand for. A range must be finite, its maximum larger than its minimum.",
    .example = R"(
z = QuantizedMul(u8[0, 128, 255], u8[130], f32(0), f32(255), f32(-128), f32(127))
fetch z = i32[0, 256, 510]
fetch z:2 = f32(2147483647)
)",
});

} // namespace troupe::ops::quantized_mul_op
