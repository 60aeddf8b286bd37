// Average and max pooling of quantized numbers.
#include "troupe/ops/quantized/shared/quantized_pooling.hpp"

namespace troupe::ops::quantized_pool_op {

extern constexpr op_def quantized_avg_pool = quantized_pooling({
    .name = "QuantizedAvgPool",
    .doc = "Gives the mean of the elements of each window, for each channel, of whole numbers that "
           "stand for a range.\n\n"
           "Means are rounded towards 0. Windows are those of AvgPool, the range stays as it is.",
    .example = R"(
x = u8[[[[1], [2], [3]], [[6], [5], [4]]]]
y = QuantizedAvgPool(x, f32(-1), f32(1)) ksize=[1, 1, 2, 1] strides=[1, 1, 1, 1] padding="VALID"
fetch y = u8[[[[1], [2]], [[5], [4]]]]
fetch y:2 = f32(1)
)",
});

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

} // namespace troupe::ops::quantized_pool_op
