// QuantizedAdd: the sum of bytes that stand for ranges.
#include "troupe/ops/quantized/shared/byte_pairs.hpp"

namespace troupe::ops::quantized_add_op {

extern constexpr op_def quantized_add = quantized_arithmetic({
    .name = "QuantizedAdd",
    .doc = "Adds what bytes stand for, with broadcasting.\n\n"
           "The sum stands for a range around 0 that is 2^14 times as large as what either operand "
           "can be. A range must be finite, its maximum larger than its minimum.",
    .example = R"(
z = QuantizedAdd(u8[0, 128, 255], u8[128], f32(-128), f32(127), f32(-128), f32(127))
y = Dequantize(z, z:1, z:2) mode="MIN_FIRST"
fetch y = f32[-128, 0, 127]
fetch z:2 = f32(2097152)
)",
});

} // namespace troupe::ops::quantized_add_op
