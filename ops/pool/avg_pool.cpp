// Average pooling, and the gradients.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/pool/shared/pooling.hpp"

namespace troupe::ops::avg_pool_op {
namespace {

edges avg_pool_gradient(gradient_context& at) {
  return {pool_like(at, "AvgPoolGrad",
                    {cast_to(shape_of(at.input(0)), dtype::i32), at.output_gradient(0)})};
}

edges avg_pool_grad_gradient(gradient_context& at) {
  return {{}, pool_like(at, "AvgPool", {at.output_gradient(0)})};
}

edges avg_pool_3d_gradient(gradient_context& at) {
  return {pool_like(at, "AvgPool3DGrad",
                    {cast_to(shape_of(at.input(0)), dtype::i32), at.output_gradient(0)})};
}

edges avg_pool_3d_grad_gradient(gradient_context& at) {
  return {{}, pool_like(at, "AvgPool3D", {at.output_gradient(0)})};
}

} // namespace

extern constexpr op_def avg_pool{
    .name = "AvgPool",
    .doc = "Gives the mean of the elements of each window, for each channel.\n\n"
           "Windows of ksize elements move by strides; both have one number for each axis, 1 for "
           "images and channels. Padding is SAME or VALID and counts for nothing.",
    .inputs = {{"value", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"ksize", attr_kind::integers},
              {"strides", attr_kind::integers},
              {"padding", attr_kind::text},
              {"data_format", "NHWC"},
              {"T", floating}},
    .infer = infer_pool<average_pool_2d>,
    .gradient = avg_pool_gradient,
    .example = R"(
x = f32[[[[1], [2], [3]], [[6], [5], [4]]]]
y = AvgPool(x) ksize=[1, 2, 2, 1] strides=[1, 1, 1, 1] padding="VALID"
fetch y = f32{1,1,2,1}[3.5, 3.5]
)",
};

extern constexpr op_def avg_pool_grad{
    .name = "AvgPoolGrad",
    .doc = "Shares each gradient evenly among the elements of its window.",
    .inputs = {on_host("orig_input_shape", "i32"), {"grad", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"ksize", attr_kind::integers},
              {"strides", attr_kind::integers},
              {"padding", attr_kind::text},
              {"data_format", "NHWC"},
              {"T", floating}},
    .infer = infer_average_gradient<average_pool_2d>,
    .gradient = avg_pool_grad_gradient,
    .example = R"(
dx = AvgPoolGrad(i32[1, 2, 3, 1], f32{1,1,2,1}[4, 8]) ksize=[1, 2, 2, 1] strides=[1, 1, 1, 1] padding="VALID"
fetch dx = f32{1,2,3,1}[1, 3, 2, 1, 3, 2]
)",
};

extern constexpr op_def avg_pool_3d{
    .name = "AvgPool3D",
    .doc = "Gives the mean of the elements of each window, for each channel.\n\n"
           "Windows of ksize elements move by strides; both have one number for each axis, 1 for "
           "images and channels. Padding is SAME or VALID and counts for nothing.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"ksize", attr_kind::integers},
              {"strides", attr_kind::integers},
              {"padding", attr_kind::text},
              {"data_format", "NDHWC"},
              {"T", floating}},
    .infer = infer_pool<pool_3d>,
    .gradient = avg_pool_3d_gradient,
    .example = R"(
x = f32{1,1,2,3,1}[1, 2, 3, 6, 5, 4]
y = AvgPool3D(x) ksize=[1, 1, 2, 2, 1] strides=[1, 1, 1, 1, 1] padding="VALID"
fetch y = f32{1,1,1,2,1}[3.5, 3.5]
)",
};

extern constexpr op_def avg_pool_3d_grad{
    .name = "AvgPool3DGrad",
    .doc = "Shares each gradient evenly among the elements of its window.",
    .inputs = {on_host("orig_input_shape", "i32"), {"grad", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"ksize", attr_kind::integers},
              {"strides", attr_kind::integers},
              {"padding", attr_kind::text},
              {"data_format", "NDHWC"},
              {"T", floating}},
    .infer = infer_average_gradient<pool_3d>,
    .gradient = avg_pool_3d_grad_gradient,
    .example = R"(
dx = AvgPool3DGrad(i32[1, 1, 2, 3, 1], f32{1,1,1,2,1}[4, 8]) ksize=[1, 1, 2, 2, 1] strides=[1, 1, 1, 1, 1] padding="VALID"
fetch dx = f32{1,1,2,3,1}[1, 3, 2, 1, 3, 2]
)",
};

} // namespace troupe::ops::avg_pool_op
