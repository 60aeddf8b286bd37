#include "troupe/ops/image/shared/crop_boxes.hpp"
#include "troupe/ops/image/shared/resize.cuda.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"

namespace troupe::ops::crop_and_resize_grad_image_gpu {
namespace {

struct crop_numbers_body {
  crop_geometry where;
  gpu::device_errors wrong;
  TROUPE_DEVICE void operator()(int64_t b) const {
    if (auto image = where.image_of[b]; image < 0 || image >= where.batch)
      wrong.add(image, where.batch);
  }
};

// The crop's pixels along one axis that a pixel of the image may have a part in: [first, last).
struct crop_range {
  int64_t first, last;
};
TROUPE_DEVICE inline crop_range crop_pixels_of(const crop_axis& along, int64_t pixel) {
  auto step = along.step(), start = along.low * static_cast<float>(along.size - 1);
  auto one = (static_cast<float>(pixel - 1) - start) / step,
       other = (static_cast<float>(pixel + 1) - start) / step;
  auto low = one < other ? one : other, high = one < other ? other : one;
  auto most = static_cast<float>(along.pixels);
  if (!(fabsf(step) > 1e-6f) || !(low > -1e9f && high < 1e9f))
    return {0, along.pixels};
  return {low > 2 ? static_cast<int64_t>(low < most ? low : most) - 2 : 0,
          high < most - 3 ? static_cast<int64_t>(high < 0 ? 0 : high) + 3 : along.pixels};
}

// A pixel gathers from all crops of its image, in their order.
template <class T>
struct image_gradient_body {
  crop_geometry where;
  bool nearest;
  const float* dy;
  T* to;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto here = gpu::place_in(i, where.height, where.width, where.channels);
    double sum = 0;
    for (int64_t b = 0; b < where.count; ++b) {
      if (where.image_of[b] != here.image)
        continue;
      auto rows = where.rows(b), columns = where.columns(b);
      auto down = crop_pixels_of(rows, here.row), across = crop_pixels_of(columns, here.column);
      for (auto y = down.first; y < down.last; ++y) {
        auto row = rows.at(y);
        auto of_row = row.inside ? share_of(row, here.row, nearest) : 0.0f;
        if (of_row == 0)
          continue;
        for (auto x = across.first; x < across.last; ++x) {
          auto column = columns.at(x);
          auto of_column = column.inside ? share_of(column, here.column, nearest) : 0.0f;
          auto place = ((b * where.crop_height + y) * where.crop_width + x) * where.channels;
          if (of_column != 0)
            sum += double{of_row * of_column} * double{dy[place + here.channel]};
        }
      }
    }
    to[i] = gpu::store<T>(static_cast<compute_type<T>>(sum));
  }
};

template <class T>
status run_image_gradient(kernel_context& at) {
  const auto& grads = at.input(0);
  TROUPE_ASSIGN(auto dims, cropped_dims(at));
  TROUPE_ASSIGN(auto where, crop_geometry_of(at, 1, dims, {grads.dims()[1], grads.dims()[2]}));
  TROUPE_TRY(check_crop_gradients(at, where));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  TROUPE_TRY(gpu::for_each(at, where.count, crop_numbers_body{where, {at, "box_ind"}}));
  return gpu::for_each(at, out->elements(),
                       image_gradient_body<T>{where, at.state<std::string>() == "nearest",
                                              grads.data<float>(), out->template data<T>()});
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(crop_and_resize_grad_image){
    .op = "CropAndResizeGradImage",
    .device = device_kind::gpu,
    .run = {{dtype::f16, run_image_gradient<float16>},
            {dtype::f32, run_image_gradient<float>},
            {dtype::f64, run_image_gradient<double>}},
    .prepare = cache_attr<std::string, "method">,
};

} // namespace troupe::ops::crop_and_resize_grad_image_gpu
