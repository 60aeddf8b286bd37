#include "troupe/ops/index/shared/select.cuda.hpp"

namespace troupe::ops::select_v2_gpu {
namespace {

template <class T>
struct select_v2_body {
  gpu::strided_index of_condition_and_yes, of_no;
  const bool* condition;
  const T *yes, *no;
  T* out;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto where = of_condition_and_yes.at(i);
    out[i] = condition[where.of[0]] ? yes[where.of[1]] : no[of_no[i]];
  }
};

status run_select_v2(kernel_context& at) {
  const auto &condition = at.input(0), &t = at.input(1), &e = at.input(2);
  TROUPE_ASSIGN(auto values, broadcast(t.dims(), e.dims()));
  TROUPE_ASSIGN(auto dims, broadcast(condition.dims(), values));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  auto alike = condition.dims() == dims && t.dims() == dims && e.dims() == dims;
  return gpu::with_width(size_of(out->type()), [&](auto width) {
    using T = typename decltype(width)::type;
    const auto* chosen = condition.data<bool>();
    const auto *yes = static_cast<const T*>(t.raw()), *no = static_cast<const T*>(e.raw());
    auto* to = static_cast<T*>(out->raw());
    if (alike)
      return gpu::map(at, dims.elements(), gpu::choice{}, to, chosen, yes, no);
    return gpu::for_each(
        at, dims.elements(),
        select_v2_body<T>{
            gpu::strided_index{strided_iterator::broadcast(dims, condition.dims(), t.dims())},
            gpu::strided_index{strided_iterator::broadcast(dims, e.dims())}, chosen, yes, no, to});
  });
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(select_v2){
    .op = "SelectV2",
    .device = device_kind::gpu,
    .run = {{dtype::none, run_select_v2}},
};

} // namespace troupe::ops::select_v2_gpu
