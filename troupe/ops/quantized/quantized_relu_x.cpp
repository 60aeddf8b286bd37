// QuantizedReluX: a Relu with a limit, of whole numbers that stand for a range.
#include "troupe/ops/quantized/shared/rectification.hpp"

namespace troupe::ops::quantized_relu_x_op {

extern constexpr op_def quantized_relu_x = rectification({
    .name = "QuantizedReluX",
    .doc = "Computes min(max(x, 0), max_value) of each element, where 0 and max_value are the "
           "whole numbers that stand for them.\n\n"
           "The range must be finite and in order; it stays as it is, and out_type must be Tinput.",
    .inputs = {{"features", "Tinput"},
               {"max_value", "f32"},
               {"min_features", "f32"},
               {"max_features", "f32"}},
    .example = R"(
y = QuantizedReluX(u8[0, 127, 130, 200], f32(10), f32(-128), f32(127))
fetch y = u8[128, 128, 130, 138]
fetch y:2 = f32(127)
)",
});

} // namespace troupe::ops::quantized_relu_x_op
