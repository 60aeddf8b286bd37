#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/kernel/gpu/launch.cuda.hpp"
#include "troupe/ops/reduction/shared/fixed_bins.hpp"

namespace troupe::ops::histogram_fixed_width_gpu {
namespace {

template <class T, class Count>
struct histogram_fixed_width_body {
  gpu::device_errors wrong;
  const T *x, *range;
  Count* counts;
  int64_t bins;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto low = range[0], high = range[1];
    if (!(low < high))
      return wrong.add();
    if (auto bin = fixed_bins{low, high, bins}(x[i]); bin >= 0)
      gpu::atomic_add(counts + bin, Count{1}); // integer counts do not depend on the order
  }
};

// Reports a range that is empty.
template <class T>
struct histogram_fixed_width_check {
  gpu::device_errors wrong;
  const T* range;
  TROUPE_DEVICE void operator()(int64_t) const {
    if (!(range[0] < range[1]))
      wrong.add();
  }
};

template <class T>
status run_histogram_fixed_width(kernel_context& at) {
  const auto &values = at.input(0), &range = at.input(1), &bins = at.input(2);
  if (range.elements() != 2 || bins.elements() != 1)
    return invalid("value_range must have two elements and nbins one, got shapes ", range.dims(),
                   " and ", bins.dims());
  int64_t count = *bins.data<int32_t>();
  if (count <= 0)
    return invalid("nbins must be positive, got ", count);
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{count}));
  fill_zeros(at, *out);
  gpu::device_errors wrong{at, "value_range must increase"};
  auto launch = [&]<class Count>(Count* counts) {
    return gpu::for_each(at, values.elements(),
                         histogram_fixed_width_body<T, Count>{wrong, values.data<T>(),
                                                              range.data<T>(), counts, count});
  };
  if (values.elements() == 0)
    return gpu::for_each(at, 1, histogram_fixed_width_check<T>{wrong, range.data<T>()});
  return out->type() == dtype::i64 ? launch(out->template data<int64_t>())
                                   : launch(out->template data<int32_t>());
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(histogram_fixed_width){
    .op = "HistogramFixedWidth",
    .device = device_kind::gpu,
    .run = {{dtype::i32, run_histogram_fixed_width<int32_t>},
            {dtype::i64, run_histogram_fixed_width<int64_t>},
            {dtype::f32, run_histogram_fixed_width<float>},
            {dtype::f64, run_histogram_fixed_width<double>}},
};

} // namespace troupe::ops::histogram_fixed_width_gpu
