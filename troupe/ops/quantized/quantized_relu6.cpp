// QuantizedRelu6: a Relu6 of whole numbers that stand for a range.
#include "troupe/ops/quantized/shared/rectification.hpp"

namespace troupe::ops::quantized_relu6_op {

extern constexpr op_def quantized_relu6 = rectification({
    .name = "QuantizedRelu6",
    .doc = "Computes min(max(x, 0), 6) of each element, where 0 and 6 are the whole numbers that "
           "stand for them.\n\n"
           "The range must be finite and in order; it stays as it is, and out_type must be Tinput.",
    .inputs = {{"features", "Tinput"}, {"min_features", "f32"}, {"max_features", "f32"}},
    .example = R"(
y = QuantizedRelu6(u8[0, 127, 130, 200], f32(-128), f32(127))
fetch y = u8[128, 128, 130, 134]
fetch y:2 = f32(127)
)",
});

} // namespace troupe::ops::quantized_relu6_op
