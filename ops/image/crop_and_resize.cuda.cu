#include "troupe/ops/image/shared/crop_boxes.hpp"
#include "troupe/ops/image/shared/resize.cuda.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"

namespace troupe::ops::crop_and_resize_gpu {
namespace {

template <class T>
struct crop_body {
  crop_geometry where;
  crop_settings how;
  gpu::device_errors wrong;
  const T* from;
  float* to;

  TROUPE_DEVICE float value(int64_t i) const { return static_cast<float>(gpu::load(from[i])); }
  TROUPE_DEVICE float mix(int64_t b, int64_t line, const crop_place& column, int64_t c) const {
    return mixed(value(where.pixel(b, line, column.below) + c),
                 value(where.pixel(b, line, column.above) + c), column.weight);
  }
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto position = gpu::place_in(i, where.crop_height, where.crop_width, where.channels);
    auto b = position.image, c = position.channel;
    if (auto image = where.image_of[b]; image < 0 || image >= where.batch) {
      wrong.add(image, where.batch);
      to[i] = 0;
      return;
    }
    auto row = where.rows(b).at(position.row), column = where.columns(b).at(position.column);
    if (!row.inside || !column.inside)
      to[i] = how.outside;
    else if (how.nearest)
      to[i] = value(where.pixel(b, row.nearest, column.nearest) + c);
    else
      to[i] = mixed(mix(b, row.below, column, c), mix(b, row.above, column, c), row.weight);
  }
};

template <class T>
status run_crop_and_resize(kernel_context& at) {
  TROUPE_ASSIGN(auto size, size_at(at, 3));
  TROUPE_ASSIGN(auto where, crop_geometry_of(at, 1, at.input(0).dims(), size));
  TROUPE_ASSIGN(auto dims, shape::make(std::array{where.count, size[0], size[1], where.channels}));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  return gpu::for_each(at, out->elements(),
                       crop_body<T>{where,
                                    at.state<crop_settings>(),
                                    {at, "box_ind"},
                                    at.input(0).data<T>(),
                                    out->template data<float>()});
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> crop_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_crop_and_resize<Ts>}...};
}

struct summed_ends {
  TROUPE_DEVICE static box_sums step(box_sums a, box_sums b) {
    return {a.low + b.low, a.high + b.high};
  }
};

// One group of threads per box.
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
  TROUPE_DEVICE void operator()(int64_t b, const Group& group) const {
    auto image = where.image_of[b];
    auto is_valid = image >= 0 && image < where.batch;
    if (!is_valid && group.rank() == 0)
      wrong.add(image, where.batch);
    auto crop_elements = is_valid ? where.crop_height * where.crop_width * where.channels : 0;
    auto rows = where.rows(b), columns = where.columns(b);
    box_sums vertical, horizontal;
    for (int64_t i = group.rank(); i < crop_elements; i += group.size()) {
      auto position = gpu::place_in(i, where.crop_height, where.crop_width, where.channels);
      auto row = rows.at(position.row), column = columns.at(position.column);
      if (!row.inside || !column.inside)
        continue;
      auto top_left = value(b, row.below, column.below, position.channel),
           top_right = value(b, row.below, column.above, position.channel),
           bottom_left = value(b, row.above, column.below, position.channel),
           bottom_right = value(b, row.above, column.above, position.channel);
      double wx = column.weight, wy = row.weight, g = dy[b * crop_elements + i];
      vertical.add(rows, position.row,
                   g * ((1 - wx) * (bottom_left - top_left) + wx * (bottom_right - top_right)));
      horizontal.add(columns, position.column,
                     g * ((1 - wy) * (top_right - top_left) + wy * (bottom_right - bottom_left)));
    }
    vertical = group.template all<summed_ends>(vertical);
    horizontal = group.template all<summed_ends>(horizontal);
    if (group.rank() != 0)
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

struct crop_numbers_body {
  crop_geometry where;
  gpu::device_errors wrong;
  TROUPE_DEVICE void operator()(int64_t b) const {
    if (auto image = where.image_of[b]; image < 0 || image >= where.batch)
      wrong.add(image, where.batch);
  }
};

// The range [first, last) of the crop's pixels along one axis that an image pixel may contribute
// to.
struct crop_range {
  int64_t first, last;
};

TROUPE_DEVICE inline crop_range crop_pixels_of(const crop_axis& along, int64_t pixel) {
  auto step = along.step(), start = along.low * static_cast<float>(along.size - 1);
  auto from_below = (static_cast<float>(pixel - 1) - start) / step,
       other = (static_cast<float>(pixel + 1) - start) / step;
  auto low = from_below < other ? from_below : other,
       high = from_below < other ? other : from_below;
  auto pixel_count = static_cast<float>(along.pixels);
  if (!(fabsf(step) > 1e-6f) || !(low > -1e9f && high < 1e9f))
    return {0, along.pixels};
  return {low > 2 ? static_cast<int64_t>(low < pixel_count ? low : pixel_count) - 2 : 0,
          high < pixel_count - 3 ? static_cast<int64_t>(high < 0 ? 0 : high) + 3 : along.pixels};
}

// A pixel gathers from all crops of its image, in the order of the crops.
template <class T>
struct image_gradient_body {
  crop_geometry where;
  bool nearest;
  const float* dy;
  T* to;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto position = gpu::place_in(i, where.height, where.width, where.channels);
    double sum = 0;
    for (int64_t b = 0; b < where.count; ++b) {
      if (where.image_of[b] != position.image)
        continue;
      auto rows = where.rows(b), columns = where.columns(b);
      auto down = crop_pixels_of(rows, position.row),
           across = crop_pixels_of(columns, position.column);
      for (auto y = down.first; y < down.last; ++y) {
        auto row = rows.at(y);
        auto of_row = row.inside ? share_of(row, position.row, nearest) : 0.0f;
        if (of_row == 0)
          continue;
        for (auto x = across.first; x < across.last; ++x) {
          auto column = columns.at(x);
          auto of_column = column.inside ? share_of(column, position.column, nearest) : 0.0f;
          auto place = ((b * where.crop_height + y) * where.crop_width + x) * where.channels;
          if (of_column != 0)
            sum += double{of_row * of_column} * double{dy[place + position.channel]};
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

extern constexpr kernel_def TROUPE_GPU_KERNEL(crop_and_resize){
    .op = "CropAndResize",
    .device = device_kind::gpu,
    .run = crop_kernels(type_list<uint8_t, float16, float, double>{}),
    .prepare = keep_crop_settings,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(crop_and_resize_grad_boxes){
    .op = "CropAndResizeGradBoxes",
    .device = device_kind::gpu,
    .run = box_gradient_kernels(type_list<uint8_t, float16, float, double>{}),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(crop_and_resize_grad_image){
    .op = "CropAndResizeGradImage",
    .device = device_kind::gpu,
    .run = {{dtype::f16, run_image_gradient<float16>},
            {dtype::f32, run_image_gradient<float>},
            {dtype::f64, run_image_gradient<double>}},
    .prepare = cache_attr<std::string, "method">,
};

} // namespace troupe::ops::crop_and_resize_gpu
