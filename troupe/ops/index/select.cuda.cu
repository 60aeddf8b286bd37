#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/index/shared/select.cuda.hpp"

namespace troupe::ops::select_gpu {
namespace {

// Each truth value decides a row of elements.
template <class T>
struct select_rows_body {
  int64_t row;
  const bool* condition;
  const T *yes, *no;
  T* out;
  bool narrow;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto which = narrow ? static_cast<uint32_t>(i) / static_cast<uint32_t>(row) : i / row;
    out[i] = condition[which] ? yes[i] : no[i];
  }
};

status run_select(kernel_context& at) {
  const auto &condition = at.input(0), &t = at.input(1), &e = at.input(2);
  const auto& dims = t.dims();
  if (!(dims == e.dims()))
    return invalid("t and e must have one shape, got ", dims, " and ", e.dims());
  int64_t row = 1;
  if (condition.rank() == 0)
    row = std::max<int64_t>(dims.elements(), 1);
  else if (condition.rank() == 1 && dims.rank() > 1 && condition.dims()[0] == dims[0])
    row = troupe::ops::product(dims, 1, dims.rank());
  else if (!(condition.dims() == dims))
    return invalid("condition must be a scalar, a vector of rows, or have the shape ", dims,
                   ", got ", condition.dims());
  return gpu::with_width(size_of(t.type()), [&](auto width) -> status {
    using T = typename decltype(width)::type;
    const auto* chosen = condition.data<bool>();
    const auto *yes = static_cast<const T*>(t.raw()), *no = static_cast<const T*>(e.raw());
    TROUPE_ASSIGN(auto* out, at.forward_or_allocate(0, {1, 2}, dims));
    auto* to = static_cast<T*>(out->raw());
    if (row == 1)
      return gpu::map(at, dims.elements(), gpu::choice{}, to, chosen, yes, no);
    return gpu::for_each(
        at, dims.elements(),
        select_rows_body<T>{row, chosen, yes, no, to, dims.elements() < 1ll << 31});
  });
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(select){
    .op = "Select",
    .device = device_kind::gpu,
    .run = {{dtype::none, run_select}},
};

} // namespace troupe::ops::select_gpu
