#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/quantized/shared/simulated_quantization.hpp"

#include <algorithm>
#include <vector>

namespace troupe::ops::quantize_and_dequantize_cpu {
namespace {

// Calls f(slice, begin, end) for runs of elements of one slice, within [begin, end).
template <class F>
void for_runs(const axis_slices& along, int64_t begin, int64_t end, F&& f) {
  while (begin < end) {
    auto run = begin / along.inner;
    auto next = std::min((run + 1) * along.inner, end);
    f(static_cast<size_t>(run % along.slices), begin, next);
    begin = next;
  }
}

template <class T>
struct range_ends {
  T least, most;
};

// The least and the greatest element of each slice. TODO(perf): this runs on one thread.
template <class T>
std::vector<range_ends<T>> ends_of(const kernel_context& at, const T* x, int64_t count,
                                   const axis_slices& along) {
  std::vector<range_ends<T>> ends(static_cast<size_t>(along.slices));
  std::vector<bool> seen(ends.size());
  constexpr int64_t part = 1 << 20;
  for (int64_t begin = 0; begin < count && !at.stopped(); begin += part)
    for_runs(along, begin, std::min(begin + part, count),
             [&](size_t slice, int64_t from, int64_t to) {
               auto [smallest, greatest] = std::minmax_element(x + from, x + to);
               auto& slice_ends = ends[slice];
               slice_ends = seen[slice] ? range_ends<T>{std::min(slice_ends.least, *smallest),
                                                        std::max(slice_ends.most, *greatest)}
                                        : range_ends<T>{*smallest, *greatest};
               seen[slice] = true;
             });
  return ends;
}

template <class T>
status round_elements(kernel_context& at, const simulated_quantization& settings) {
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto along, axis_slices::of(x.dims(), settings.axis));
  TROUPE_TRY(check_ends(at, 1, settings.axis, along));
  std::vector<range_ends<T>> ends;
  const auto *range_min = at.input(1).data<T>(), *range_max = at.input(2).data<T>();
  if (settings.range_given)
    for (int64_t i = 0; i < along.slices; ++i) {
      if (range_min[i] > range_max[i])
        return invalid(range_is_reversed, ", got ", range_min[i], " and ", range_max[i]);
      ends.push_back({range_min[i], range_max[i]});
    }
  else
    ends = ends_of(at, x.data<T>(), x.elements(), along);
  std::vector<simulated_range<T>> ranges;
  auto numbers = whole_numbers<T>::of(settings);
  for (const auto& slice_ends : ends)
    ranges.push_back(
        simulated_range<T>::fitted(slice_ends.least, slice_ends.most, numbers, settings.half_up));
  const auto* from = x.data<T>();
  auto count = x.elements();
  TROUPE_ASSIGN(auto* out, at.forward_or_allocate(0, {0}, x.dims()));
  auto* to = out->template data<T>();
  at.parallel_for(count, 3, [&](int64_t begin, int64_t end) {
    for_runs(along, begin, end, [&](size_t slice, int64_t first, int64_t last) {
      std::transform(from + first, from + last, to + first, [&, range = ranges[slice]](T value) {
        return range.rounded(value, settings.range_given);
      });
    });
  });
  return {};
}

template <class T>
status run(kernel_context& at) {
  return round_elements<T>(at, at.state<simulated_quantization>());
}

template <class T>
status run_v3(kernel_context& at) {
  auto settings = at.state<simulated_quantization>();
  if (at.input(3).elements() != 1)
    return invalid("num_bits must be a scalar, got shape ", at.input(3).dims());
  settings.bits = *at.input(3).data<int32_t>();
  TROUPE_TRY(settings.check_bits());
  return round_elements<T>(at, settings);
}

template <class T>
status run_grad(kernel_context& at) {
  const auto &gradients = at.input(0), &x = at.input(1);
  auto axis = at.state<int64_t>();
  if (!(gradients.dims() == x.dims()))
    return invalid("gradients and input must have one shape, got ", gradients.dims(), " and ",
                   x.dims());
  TROUPE_ASSIGN(auto along, axis_slices::of(x.dims(), axis));
  TROUPE_TRY(check_ends(at, 2, axis, along));
  const auto *range_min = at.input(2).data<T>(), *range_max = at.input(3).data<T>();
  TROUPE_ASSIGN(auto* out, at.allocate(0, x.dims()));
  const auto *dy = gradients.data<T>(), *values = x.data<T>();
  auto* dx = out->template data<T>();
  at.parallel_for(x.elements(), 1, [&](int64_t begin, int64_t end) {
    for_runs(along, begin, end, [&](size_t slice, int64_t first, int64_t last) {
      for (auto i = first; i < last; ++i)
        dx[i] =
            dy[i] * static_cast<T>(values[i] >= range_min[slice] && values[i] <= range_max[slice]);
    });
  });
  for (int i : {1, 2}) {
    TROUPE_ASSIGN(auto* zeros, at.allocate(i, at.input(i + 1).dims()));
    fill_zeros(at, *zeros);
  }
  return {};
}

} // namespace

extern constexpr kernel_def quantize_and_dequantize_v2_cpu{
    .op = "QuantizeAndDequantizeV2",
    .run = {{dtype::f32, run<float>}, {dtype::f64, run<double>}},
    .prepare = keep_simulated_quantization,
};

extern constexpr kernel_def quantize_and_dequantize_v3_cpu{
    .op = "QuantizeAndDequantizeV3",
    .run = {{dtype::f32, run_v3<float>}, {dtype::f64, run_v3<double>}},
    .prepare = keep_simulated_quantization,
};

extern constexpr kernel_def quantize_and_dequantize_v4_cpu{
    .op = "QuantizeAndDequantizeV4",
    .run = {{dtype::f32, run<float>}, {dtype::f64, run<double>}},
    .prepare = keep_simulated_quantization,
};

extern constexpr kernel_def quantize_and_dequantize_v4_grad_cpu{
    .op = "QuantizeAndDequantizeV4Grad",
    .run = {{dtype::f32, run_grad<float>}, {dtype::f64, run_grad<double>}},
    .prepare = cache_attr<int64_t, "axis">,
};

} // namespace troupe::ops::quantize_and_dequantize_cpu
