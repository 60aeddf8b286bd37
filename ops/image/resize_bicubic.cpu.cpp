#include "troupe/ops/image/shared/resize.cpu.hpp"

namespace troupe::ops::resize_bicubic_cpu {

extern constexpr kernel_def resize_bicubic_cpu{
    .op = "ResizeBicubic",
    .run = {{dtype::none, resize_images<cubic_taps>}},
    .prepare = keep_resize_options,
};

extern constexpr kernel_def resize_bicubic_grad_cpu{
    .op = "ResizeBicubicGrad",
    .run = {{dtype::none, resize_gradient<cubic_taps>}},
    .prepare = keep_resize_options,
};

} // namespace troupe::ops::resize_bicubic_cpu
