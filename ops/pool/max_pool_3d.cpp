// Max pooling of volumes, and the gradients.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/pool/shared/pooling.hpp"
#include "troupe/runtime/graph/op.hpp"

namespace troupe::ops::max_pool_3d_op {
namespace {

edges max_pool_3d_gradient(gradient_context& at) {
  return {pool_like(at, "MaxPool3DGrad", {at.input(0), at.output(0), at.output_gradient(0)})};
}

edges max_pool_3d_grad_gradient(gradient_context& at) {
  auto dy = at.output_gradient(0);
  return {{},
          {},
          pool_like(at, "MaxPool3DGradGrad",
                    {cast_to(at.input(0), dy.type()), cast_to(at.input(1), dy.type()), dy})};
}

edges max_pool_3d_grad_grad_gradient(gradient_context& at) {
  return {
      {}, {}, pool_like(at, "MaxPool3DGrad", {at.input(0), at.input(1), at.output_gradient(0)})};
}

} // namespace

extern constexpr op_def max_pool_3d{
    .name = "MaxPool3D",
    .doc = "Gives the largest element of each window, for each channel.\n\n"
           "Windows of ksize elements move by strides; both have one number for each axis, 1 "
           "for images and channels. Padding is SAME or VALID and holds no elements. A NaN "
           "is larger than all numbers.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"ksize", attr_kind::integers},
              {"strides", attr_kind::integers},
              {"padding", attr_kind::text},
              {"data_format", "NDHWC"},
              {"T", floating}},
    .effects = effect::autocast_infer,
    .infer = infer_pool<pool_3d>,
    .gradient = max_pool_3d_gradient,
    .example = R"(
x = f32{1,1,2,3,1}[1, 2, 3, 6, 5, 4]
y = MaxPool3D(x) ksize=[1, 1, 2, 2, 1] strides=[1, 1, 1, 1, 1] padding="VALID"
fetch y = f32{1,1,1,2,1}[6, 5]
)",
};

extern constexpr op_def max_pool_3d_grad{
    .name = "MaxPool3DGrad",
    .doc = "Gives each gradient to the largest element of its window, the first among equals, and "
           "adds up what comes to one element.",
    .inputs = {{"orig_input", "TInput"}, {"orig_output", "TInput"}, {"grad", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"ksize", attr_kind::integers},
              {"strides", attr_kind::integers},
              {"padding", attr_kind::text},
              {"data_format", "NDHWC"},
              {"T", floating, dtype::f32},
              {"TInput", floating, dtype::f32}},
    .effects = effect::autocast_infer,
    .infer = infer_pool_gradient<pool_3d>,
    .gradient = max_pool_3d_grad_gradient,
    .example = R"(
x = f32{1,1,2,3,1}[1, 2, 3, 6, 5, 4]
y = f32{1,1,1,2,1}[6, 5]
dx = MaxPool3DGrad(x, y, f32{1,1,1,2,1}[10, 20]) ksize=[1, 1, 2, 2, 1] strides=[1, 1, 1, 1, 1] padding="VALID"
fetch dx = f32{1,1,2,3,1}[0, 0, 0, 10, 20, 0]
)",
};

extern constexpr op_def max_pool_3d_grad_grad{
    .name = "MaxPool3DGradGrad",
    .doc = "Gives the gradient at the largest element of each window, the first among equals.",
    .inputs = {{"orig_input", "T"}, {"orig_output", "T"}, {"grad", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"ksize", attr_kind::integers},
              {"strides", attr_kind::integers},
              {"padding", attr_kind::text},
              {"data_format", "NDHWC"},
              {"T", real_numbers}},
    .infer = infer_pool_second_gradient<pool_3d, 2>,
    .gradient = max_pool_3d_grad_grad_gradient,
    .example = R"(
x = f32{1,1,2,3,1}[1, 2, 3, 6, 5, 4]
y = f32{1,1,1,2,1}[6, 5]
g = f32{1,1,2,3,1}[10, 20, 30, 40, 50, 60]
dy = MaxPool3DGradGrad(x, y, g) ksize=[1, 1, 2, 2, 1] strides=[1, 1, 1, 1, 1] padding="VALID"
fetch dy = f32{1,1,1,2,1}[40, 50]
)",
};

} // namespace troupe::ops::max_pool_3d_op
