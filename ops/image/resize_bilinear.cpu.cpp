#include "troupe/ops/image/shared/resize.cpu.hpp"

namespace troupe::ops::resize_bilinear_cpu {

extern constexpr kernel_def resize_bilinear_cpu{
    .op = "ResizeBilinear",
    .run = {{dtype::none, resize_images<linear_taps>}},
    .prepare = keep_resize_options,
};

extern constexpr kernel_def resize_bilinear_grad_cpu{
    .op = "ResizeBilinearGrad",
    .run = {{dtype::none, resize_gradient<linear_taps>}},
    .prepare = keep_resize_options,
};

} // namespace troupe::ops::resize_bilinear_cpu
