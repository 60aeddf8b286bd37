#include "troupe/ops/image/resize.cuda.hpp"

namespace troupe::ops {
namespace {

template <class T>
struct resize_bilinear_body {
  gpu::resized_axis rows, columns;
  int64_t channels;
  const T* x;
  float* y;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto here = gpu::place_in(i, rows.made, columns.made, channels);
    auto row = rows.neighbours(here.row), column = columns.neighbours(here.column);
    auto mixed = [&](int64_t at) {
      auto pixel = [&](int64_t line) {
        auto place = ((here.image * rows.source + line) * columns.source + at) * channels;
        return static_cast<float>(gpu::load(x[place + here.channel]));
      };
      return (1 - row.weight) * pixel(row.below) + row.weight * pixel(row.above);
    };
    y[i] = (1 - column.weight) * mixed(column.below) + column.weight * mixed(column.above);
  }
};

template <class T>
status resize_bilinear_on_gpu(kernel_context& at) {
  const auto& images = at.input(0);
  const auto& dims = images.dims();
  TROUPE_TRY(check_images(dims));
  TROUPE_ASSIGN(auto size, size_at(at, 1));
  TROUPE_ASSIGN(auto made, shape::make(std::array{dims[0], size[0], size[1], dims[3]}));
  TROUPE_ASSIGN(auto* out, at.allocate(0, made));
  const auto& how = at.state<resize_options>();
  return gpu::for_each(at, out->elements(),
                       resize_bilinear_body<T>{{dims[1], size[0], how},
                                               {dims[2], size[1], how},
                                               dims[3],
                                               images.data<T>(),
                                               out->template data<float>()});
}

template <class... Ts>
constexpr upto<typed_kernel, 18> resize_bilinear_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, resize_bilinear_on_gpu<Ts>}...};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(resize_bilinear){
    .op = "ResizeBilinear",
    .device = device_kind::gpu,
    .run = resize_bilinear_kernels(types::floating + type_list<uint8_t>{}),
    .prepare = keep_resize_options,
};

} // namespace troupe::ops
