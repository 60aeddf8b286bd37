#include "troupe/ops/image/shared/resize.cuda.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"

namespace troupe::ops::resize_area_gpu {
namespace {

template <class T>
status resize_area_on_gpu(kernel_context& at) {
  return gpu::filter_images<T, area_taps>(at, {.align_corners = at.state<bool>()});
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> resize_area_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, resize_area_on_gpu<Ts>}...};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(resize_area){
    .op = "ResizeArea",
    .device = device_kind::gpu,
    .run = resize_area_kernels(types::floating + type_list<uint8_t>{}),
    .prepare = cache_attr<bool, "align_corners">,
};

} // namespace troupe::ops::resize_area_gpu
