// QuantizedMaxPool: the largest byte of each window.
#include "troupe/ops/quantized/shared/quantized_pooling.hpp"

namespace troupe::ops::quantized_max_pool_op {

extern constexpr op_def quantized_max_pool = quantized_pooling({
    .name = "QuantizedMaxPool",
    .doc = "Gives the largest element of each window, for each channel, of whole numbers that "
           "stand for a range.\n\n"
           "Windows are those of MaxPool, the range stays as it is.",
    .example = R"(
x = u8[[[[1], [2], [3]], [[6], [5], [4]]]]
y = QuantizedMaxPool(x, f32(-1), f32(1)) ksize=[1, 2, 2, 1] strides=[1, 1, 1, 1] padding="VALID"
fetch y = u8[[[[6], [5]]]]
fetch y:1 = f32(-1)
)",
});

} // namespace troupe::ops::quantized_max_pool_op
