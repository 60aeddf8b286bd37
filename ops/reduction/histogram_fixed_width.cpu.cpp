#include "troupe/ops/reduction/shared/fixed_bins.hpp"

#include <algorithm>

namespace troupe::ops::histogram_fixed_width_cpu {
namespace {

template <class T, class Count>
void count_values(kernel_context& at, const T* range, int64_t bins, Count* counts) {
  const auto& values = at.input(0);
  const auto* x = values.data<T>();
  fixed_bins bin_of{range[0], range[1], bins};
  std::fill_n(counts, bins, Count{0});
  for (int64_t i = 0; i < values.elements(); ++i) {
    if (i % 500'000 == 499'999 && at.stopped())
      return;
    if (auto bin = bin_of(x[i]); bin >= 0)
      ++counts[bin];
  }
}

template <class T>
status run(kernel_context& at) {
  const auto &range = at.input(1), &bins = at.input(2);
  if (range.elements() != 2 || bins.elements() != 1)
    return invalid("value_range must have two elements and nbins one, got shapes ", range.dims(),
                   " and ", bins.dims());
  const auto* ends = range.data<T>();
  int64_t count = *bins.data<int32_t>();
  if (count <= 0)
    return invalid("nbins must be positive, got ", count);
  if (!(ends[0] < ends[1]))
    return invalid("value_range must increase, got ", ends[0], " and ", ends[1]);
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{count}));
  if (out->type() == dtype::i64)
    count_values(at, ends, count, out->template data<int64_t>());
  else
    count_values(at, ends, count, out->template data<int32_t>());
  return {};
}

} // namespace

extern constexpr kernel_def histogram_fixed_width_cpu{
    .op = "HistogramFixedWidth",
    .run = {{dtype::i32, run<int32_t>},
            {dtype::i64, run<int64_t>},
            {dtype::f32, run<float>},
            {dtype::f64, run<double>}},
};

} // namespace troupe::ops::histogram_fixed_width_cpu
