#include "troupe/ops/image/shared/crop_boxes.hpp"
#include "troupe/ops/image/shared/resize.cuda.hpp"

namespace troupe::ops::crop_and_resize_grad_boxes_gpu {
namespace {

struct summed_ends {
  TROUPE_DEVICE static box_sums step(box_sums a, box_sums b) {
    return {a.low + b.low, a.high + b.high};
  }
};

// A group of threads for each box.
template <class T>
struct box_gradient_body {
  crop_geometry where;
  gpu::device_errors wrong;
  const float* dy;
  const T* from;
  float* to;

  TROUPE_DEVICE double value(int64_t b, int64_t y, int64_t x, int64_t c) const {
    return static_cast<double>(gpu::load(from[where.pixel(b, y, x) + c]));
  }
  template <class Group>
  TROUPE_DEVICE void operator()(int64_t b, const Group& by) const {
    auto image = where.image_of[b];
    auto known = image >= 0 && image < where.batch;
    if (!known && by.rank() == 0)
      wrong.add(image, where.batch);
    auto each = known ? where.crop_height * where.crop_width * where.channels : 0;
    auto rows = where.rows(b), columns = where.columns(b);
    box_sums vertical, horizontal;
    for (int64_t i = by.rank(); i < each; i += by.size()) {
      auto here = gpu::place_in(i, where.crop_height, where.crop_width, where.channels);
      auto row = rows.at(here.row), column = columns.at(here.column);
      if (!row.inside || !column.inside)
        continue;
      auto top_left = value(b, row.below, column.below, here.channel),
           top_right = value(b, row.below, column.above, here.channel),
           bottom_left = value(b, row.above, column.below, here.channel),
           bottom_right = value(b, row.above, column.above, here.channel);
      double wx = column.weight, wy = row.weight, g = dy[b * each + i];
      vertical.add(rows, here.row,
                   g * ((1 - wx) * (bottom_left - top_left) + wx * (bottom_right - top_right)));
      horizontal.add(columns, here.column,
                     g * ((1 - wy) * (top_right - top_left) + wy * (bottom_right - bottom_left)));
    }
    vertical = by.template all<summed_ends>(vertical);
    horizontal = by.template all<summed_ends>(horizontal);
    if (by.rank() != 0)
      return;
    to[4 * b] = static_cast<float>(vertical.low);
    to[4 * b + 1] = static_cast<float>(horizontal.low);
    to[4 * b + 2] = static_cast<float>(vertical.high);
    to[4 * b + 3] = static_cast<float>(horizontal.high);
  }
};

template <class T>
status run_box_gradient(kernel_context& at) {
  const auto &grads = at.input(0), &images = at.input(1);
  if (grads.rank() != 4)
    return invalid("grads must have 4 axes, got shape ", grads.dims());
  TROUPE_ASSIGN(auto where,
                crop_geometry_of(at, 2, images.dims(), {grads.dims()[1], grads.dims()[2]}));
  TROUPE_TRY(check_crop_gradients(at, where));
  TROUPE_ASSIGN(auto* out, at.allocate(0, at.input(2).dims()));
  return gpu::for_each_group(at, where.count, where.crop_height * where.crop_width * where.channels,
                             box_gradient_body<T>{where,
                                                  {at, "box_ind"},
                                                  grads.data<float>(),
                                                  images.data<T>(),
                                                  out->template data<float>()});
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> box_gradient_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_box_gradient<Ts>}...};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(crop_and_resize_grad_boxes){
    .op = "CropAndResizeGradBoxes",
    .device = device_kind::gpu,
    .run = box_gradient_kernels(type_list<uint8_t, float16, float, double>{}),
};

} // namespace troupe::ops::crop_and_resize_grad_boxes_gpu
