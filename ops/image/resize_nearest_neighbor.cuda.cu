#include "troupe/ops/image/shared/resize.cuda.hpp"

namespace troupe::ops::resize_nearest_neighbor_gpu {
namespace {

// Elements are only copied: `Word` has their size.
template <class Word>
struct resize_nearest_body {
  gpu::resized_axis rows, columns;
  int64_t channels;
  const Word* x;
  Word* y;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto position = gpu::place_in(i, rows.made, columns.made, channels);
    auto row = position.image * rows.source + rows.nearest(position.row);
    y[i] =
        x[(row * columns.source + columns.nearest(position.column)) * channels + position.channel];
  }
};

template <class T>
status resize_nearest_on_gpu(kernel_context& at) {
  using word = std::conditional_t<
      sizeof(T) == 1, uint8_t,
      std::conditional_t<sizeof(T) == 2, uint16_t,
                         std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
  const auto& images = at.input(0);
  const auto& dims = images.dims();
  TROUPE_TRY(check_images(dims));
  TROUPE_ASSIGN(auto size, size_at(at, 1));
  TROUPE_ASSIGN(auto resized, shape::make(std::array{dims[0], size[0], size[1], dims[3]}));
  TROUPE_ASSIGN(auto* out, at.allocate(0, resized));
  const auto& options = at.state<resize_options>();
  return gpu::for_each(at, out->elements(),
                       resize_nearest_body<word>{{dims[1], size[0], options},
                                                 {dims[2], size[1], options},
                                                 dims[3],
                                                 static_cast<const word*>(images.raw()),
                                                 static_cast<word*>(out->raw())});
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> resize_nearest_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, resize_nearest_on_gpu<Ts>}...};
}

template <class T>
struct resize_nearest_grad_body {
  gpu::resized_axis rows, columns;
  int64_t channels;
  const T* dy;
  T* dx;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto position = gpu::place_in(i, rows.source, columns.source, channels);
    auto first = columns.first_of(position.column), last = columns.last_of(position.column);
    compute_type<T> sum{};
    for (auto row = rows.first_of(position.row); row < rows.last_of(position.row); ++row) {
      if (rows.nearest(row) != position.row)
        continue;
      auto line = (position.image * rows.made + row) * columns.made;
      for (auto column = first; column < last; ++column)
        if (columns.nearest(column) == position.column)
          sum += gpu::load(dy[(line + column) * channels + position.channel]);
    }
    dx[i] = gpu::store<T>(sum);
  }
};

template <class T>
status resize_nearest_grad_on_gpu(kernel_context& at) {
  const auto& grads = at.input(0);
  const auto& from = grads.dims();
  TROUPE_TRY(check_images(from));
  TROUPE_ASSIGN(auto size, size_at(at, 1));
  TROUPE_ASSIGN(auto original, shape::make(std::array{from[0], size[0], size[1], from[3]}));
  TROUPE_ASSIGN(auto* out, at.allocate(0, original));
  const auto& options = at.state<resize_options>();
  return gpu::for_each(at, out->elements(),
                       resize_nearest_grad_body<T>{{size[0], from[1], options},
                                                   {size[1], from[2], options},
                                                   from[3],
                                                   grads.data<T>(),
                                                   out->template data<T>()});
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> resize_nearest_grad_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, resize_nearest_grad_on_gpu<Ts>}...};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(resize_nearest_neighbor){
    .op = "ResizeNearestNeighbor",
    .device = device_kind::gpu,
    .run = resize_nearest_kernels(
        types::floating + type_list<int8_t, uint8_t, int16_t, uint16_t, int32_t, int64_t>{}),
    .prepare = keep_resize_options,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(resize_nearest_neighbor_grad){
    .op = "ResizeNearestNeighborGrad",
    .device = device_kind::gpu,
    .run = resize_nearest_grad_kernels(types::floating),
    .prepare = keep_resize_options,
};

} // namespace troupe::ops::resize_nearest_neighbor_gpu
