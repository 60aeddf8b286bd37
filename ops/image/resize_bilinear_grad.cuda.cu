#include "troupe/ops/image/resize.cuda.hpp"

namespace troupe::ops {
namespace {

// A pixel of the original gathers from all that were made of it.
template <class T>
struct resize_bilinear_grad_body {
  gpu::resized_axis rows, columns;
  int64_t channels;
  const float* dy;
  T* dx;

  TROUPE_DEVICE static double share(const two_pixels& of, int64_t pixel) {
    return (of.below == pixel ? double{1 - of.weight} : 0.0) +
           (of.above == pixel ? double{of.weight} : 0.0);
  }
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto here = gpu::place_in(i, rows.source, columns.source, channels);
    auto first = columns.first_of(here.column), last = columns.last_of(here.column);
    double sum = 0;
    for (auto row = rows.first_of(here.row); row < rows.last_of(here.row); ++row) {
      auto of_row = share(rows.neighbours(row), here.row);
      if (of_row == 0)
        continue;
      double line = 0;
      for (auto column = first; column < last; ++column) {
        auto of_column = share(columns.neighbours(column), here.column);
        auto place = ((here.image * rows.made + row) * columns.made + column) * channels;
        if (of_column != 0)
          line += of_column * double{dy[place + here.channel]};
      }
      sum += of_row * line;
    }
    dx[i] = gpu::store<T>(static_cast<compute_type<T>>(sum));
  }
};

template <class T>
status resize_bilinear_grad_on_gpu(kernel_context& at) {
  const auto &grads = at.input(0), &original = at.input(1);
  const auto &from = grads.dims(), &dims = original.dims();
  TROUPE_TRY(check_resized(from, dims));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  const auto& how = at.state<resize_options>();
  return gpu::for_each(at, out->elements(),
                       resize_bilinear_grad_body<T>{{dims[1], from[1], how},
                                                    {dims[2], from[2], how},
                                                    dims[3],
                                                    grads.data<float>(),
                                                    out->template data<T>()});
}

template <class... Ts>
constexpr upto<typed_kernel, 18> resize_bilinear_grad_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, resize_bilinear_grad_on_gpu<Ts>}...};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(resize_bilinear_grad){
    .op = "ResizeBilinearGrad",
    .device = device_kind::gpu,
    .run = resize_bilinear_grad_kernels(types::floating),
    .prepare = keep_resize_options,
};

} // namespace troupe::ops
