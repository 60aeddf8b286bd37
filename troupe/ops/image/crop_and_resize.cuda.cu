#include "troupe/ops/image/shared/crop_boxes.hpp"
#include "troupe/ops/image/shared/resize.cuda.hpp"

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
    auto here = gpu::place_in(i, where.crop_height, where.crop_width, where.channels);
    auto b = here.image, c = here.channel;
    if (auto image = where.image_of[b]; image < 0 || image >= where.batch) {
      wrong.add(image, where.batch);
      to[i] = 0;
      return;
    }
    auto row = where.rows(b).at(here.row), column = where.columns(b).at(here.column);
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

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(crop_and_resize){
    .op = "CropAndResize",
    .device = device_kind::gpu,
    .run = crop_kernels(type_list<uint8_t, float16, float, double>{}),
    .prepare = keep_crop_settings,
};

} // namespace troupe::ops::crop_and_resize_gpu
