#include "troupe/ops/segment/bincount.hpp"

#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/segment/shared/segments.cuda.hpp"

namespace troupe::ops::bincount_gpu {
namespace {

// The bin of a number among the bins of all rows, or `none` for a number of `size` or more.
struct bincount_place {
  gpu::device_errors wrong;
  gpu::integers numbers;
  int64_t columns, size, none;
  TROUPE_DEVICE int64_t operator()(int64_t i) const {
    int64_t number = numbers[i];
    if (number < 0)
      wrong.add();
    return number < 0 || number >= size ? none : i / columns * size + number;
  }
};

// Sums of integers do not depend on the order.
template <class T>
struct bincount_body {
  bincount_place place;
  const T* weights; // null: each number has the weight 1
  T* bins;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto bin = place(i);
    if (bin != place.none)
      gpu::atomic_add(bins + bin, weights ? weights[i] : T{1});
  }
};

template <class T>
struct bincount_convert_body {
  const int64_t* counts;
  T* bins;
  TROUPE_DEVICE void operator()(int64_t i) const { bins[i] = static_cast<T>(counts[i]); }
};

// All threads that write to a bin write the same value.
template <class T>
struct bincount_mark_body {
  bincount_place place;
  T* bins;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto bin = place(i);
    if (bin != place.none)
      bins[bin] = T{1};
  }
};

// Numbers of `size` or more are ignored.
struct bincount_number_body {
  bincount_place place;
  int64_t* to;
  TROUPE_DEVICE void operator()(int64_t i) const { to[i] = place(i); }
};

template <class T>
status count_on_gpu(kernel_context& at, const char* device_error, std::string_view name,
                    bool by_rows, bool binary) {
  const auto &numbers = at.input(0), &weights = at.input(2);
  TROUPE_ASSIGN(auto plan, plan_bincount(at, name, by_rows));
  TROUPE_ASSIGN(auto* out, at.allocate(0, plan.dims));
  auto* bins = out->template data<T>();
  const T* weight = weights.elements() > 0 && !binary ? weights.data<T>() : nullptr;
  auto count = numbers.elements(), all = out->elements();
  bincount_place place{gpu::device_errors{at, device_error}, gpu::integers{numbers}, plan.columns,
                       plan.size, all};
  if (binary) {
    fill_zeros(at, *out);
    return gpu::for_each(at, count, bincount_mark_body<T>{place, bins});
  }
  if constexpr (std::is_integral_v<T>) {
    fill_zeros(at, *out);
    return gpu::for_each(at, count, bincount_body<T>{place, weight, bins});
  } else if (!weight) {
    TROUPE_ASSIGN(auto counts, tensor::make(dtype::i64, shape{all}, at.memory()));
    fill_zeros(at, counts);
    auto* integer_counts = counts.template data<int64_t>();
    TROUPE_TRY(gpu::for_each(at, count, bincount_body<int64_t>{place, nullptr, integer_counts}));
    return gpu::for_each(at, all, bincount_convert_body<T>{integer_counts, bins});
  } else {
    TROUPE_ASSIGN(auto parts, gpu::room_for_numbers(at, count));
    TROUPE_TRY(
        gpu::for_each(at, count, bincount_number_body{place, parts.template data<int64_t>()}));
    TROUPE_ASSIGN(auto sorted, gpu::sort_updates(at, parts, all));
    TROUPE_ASSIGN(auto starts, gpu::segment_starts(at, sorted.parts, all));
    return gpu::combine_entries<T, addition>(at, {std::move(starts), std::move(sorted.numbers)},
                                             weight, bins, count, all, 1);
  }
}

template <class T>
status run_bincount(kernel_context& at) {
  return count_on_gpu<T>(at, "arr must not have negative numbers", "arr", false, false);
}

template <class T>
status run_dense_bincount(kernel_context& at) {
  return count_on_gpu<T>(at, "input must not have negative numbers", "input", true,
                         at.state<bool>());
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(bincount){
    .op = "Bincount",
    .device = device_kind::gpu,
    .run = {{dtype::i32, run_bincount<int32_t>},
            {dtype::i64, run_bincount<int64_t>},
            {dtype::f32, run_bincount<float>},
            {dtype::f64, run_bincount<double>}},
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(dense_bincount){
    .op = "DenseBincount",
    .device = device_kind::gpu,
    .run = {{dtype::i32, run_dense_bincount<int32_t>},
            {dtype::i64, run_dense_bincount<int64_t>},
            {dtype::f32, run_dense_bincount<float>},
            {dtype::f64, run_dense_bincount<double>}},
    .prepare = cache_attr<bool, "binary_output">,
};

} // namespace troupe::ops::bincount_gpu
