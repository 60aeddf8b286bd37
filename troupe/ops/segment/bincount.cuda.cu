#include "troupe/ops/segment/bincount.hpp"

#include "troupe/ops/segment/shared/segments.cuda.hpp"

namespace troupe::ops::bincount_gpu {
namespace {

// Whole numbers add up to the same in any order.
template <class T>
struct bincount_body {
  gpu::device_errors wrong;
  const int32_t* numbers;
  const T* weights; // null: each number counts 1
  T* bins;
  int64_t size;
  TROUPE_DEVICE void operator()(int64_t i) const {
    int64_t number = numbers[i];
    if (number < 0)
      wrong.add();
    else if (number < size)
      gpu::atomic_add(bins + number, weights ? weights[i] : T{1});
  }
};

template <class T>
struct bincount_convert_body {
  const int64_t* counts;
  T* bins;
  TROUPE_DEVICE void operator()(int64_t i) const { bins[i] = static_cast<T>(counts[i]); }
};

// Numbers from size on are left out.
struct bincount_number_body {
  gpu::device_errors wrong;
  const int32_t* numbers;
  int64_t size;
  int64_t* to;
  TROUPE_DEVICE void operator()(int64_t i) const {
    int64_t number = numbers[i];
    if (number < 0)
      wrong.add();
    to[i] = number < 0 || number >= size ? size : number;
  }
};

template <class T>
status run_bincount(kernel_context& at) {
  const auto &arr = at.input(0), &weights = at.input(2);
  TROUPE_ASSIGN(auto size, bins_of(at));
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{size}));
  auto* bins = out->template data<T>();
  const auto* numbers = arr.data<int32_t>();
  const T* weight = weights.elements() > 0 ? weights.data<T>() : nullptr;
  auto count = arr.elements();
  gpu::device_errors wrong{at, "arr must not have negative numbers"};
  if constexpr (std::is_integral_v<T>) {
    fill_zeros(at, *out);
    return gpu::for_each(at, count, bincount_body<T>{wrong, numbers, weight, bins, size});
  } else if (!weight) {
    TROUPE_ASSIGN(auto counts, tensor::make(dtype::i64, shape{size}, at.memory()));
    fill_zeros(at, counts);
    auto* whole = counts.template data<int64_t>();
    TROUPE_TRY(
        gpu::for_each(at, count, bincount_body<int64_t>{wrong, numbers, nullptr, whole, size}));
    return gpu::for_each(at, size, bincount_convert_body<T>{whole, bins});
  } else {
    TROUPE_ASSIGN(auto parts, gpu::room_for_numbers(at, count));
    TROUPE_TRY(gpu::for_each(
        at, count, bincount_number_body{wrong, numbers, size, parts.template data<int64_t>()}));
    TROUPE_ASSIGN(auto sorted, gpu::sort_updates(at, parts, size));
    TROUPE_ASSIGN(auto starts, gpu::segment_starts(at, sorted.parts, size));
    return gpu::combine_entries<T, addition>(at, {std::move(starts), std::move(sorted.numbers)},
                                             weight, bins, count, size, 1);
  }
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

} // namespace troupe::ops::bincount_gpu
