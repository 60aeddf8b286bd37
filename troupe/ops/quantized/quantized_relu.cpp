// QuantizedRelu: a Relu of whole numbers that stand for a range.
#include "troupe/ops/quantized/shared/rectification.hpp"

namespace troupe::ops::quantized_relu_op {

extern constexpr op_def quantized_relu = rectification({
    .name = "QuantizedRelu",
    .doc = "Computes max(x, 0) of each element, where 0 is the whole number that stands for it.\n\n"
           "The range must be finite and in order; it stays as it is, and out_type must be Tinput.",
    .inputs = {{"features", "Tinput"}, {"min_features", "f32"}, {"max_features", "f32"}},
    .example = R"(
y = QuantizedRelu(u8[0, 127, 128, 200], f32(-128), f32(127))
fetch y = u8[128, 128, 128, 200]
fetch y:1 = f32(-128)
)",
});

} // namespace troupe::ops::quantized_relu_op
