#include "troupe/ops/kernel/gpu/device_indices.cuda.hpp"
#include "troupe/ops/kernel/gpu/primitives.cuda.hpp"
#include "troupe/ops/kernel/gpu/workspace.cuda.hpp"

#ifdef __CUDACC__
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/permutation_iterator.h>
#endif

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {
namespace scanning {

// The index of the i-th element to be accumulated.
struct scan_place {
  int64_t last;
  bool reverse;
  TROUPE_DEVICE int64_t operator()(int64_t i) const { return reverse ? last - i : i; }
};

// One more element follows the last one; its value is not used.
struct padded_number {
  integers numbers;
  int64_t count;
  TROUPE_DEVICE int64_t operator()(int64_t i) const { return i < count ? numbers[i] : 0; }
};

#ifdef __CUDACC__
struct row_of_place {
  divisor by_columns;
  TROUPE_DEVICE int64_t operator()(int64_t i) const { return by_columns(i).quotient; }
};

template <class Fn, class T>
struct scan_step {
  TROUPE_DEVICE T operator()(const T& a, const T& b) const { return Fn::step(a, b); }
};
#endif

} // namespace scanning

template <class Fn, class T>
status scan_rows(kernel_context& at, const T* from, T* to, int64_t rows, int64_t columns,
                 scan_options options) {
  using namespace scanning;
  auto total = rows * columns;
  if (total == 0)
    return {};
  scan_place place{total - 1, options.reverse};
#ifdef __CUDACC__
  auto row = each_of(row_of_place{{columns, total}});
  auto source = thrust::make_permutation_iterator(from, each_of(place));
  auto sink = thrust::make_permutation_iterator(to, each_of(place));
  scan_step<Fn, T> step;
  return with_workspace(at, [&](void* memory, size_t& bytes, cudaStream_t stream) {
    if (options.exclusive)
      return cub::DeviceScan::ExclusiveScanByKey(memory, bytes, row, source, sink, step,
                                                 Fn::template start<T>(), total,
                                                 cuda::std::equal_to<>{}, stream);
    return cub::DeviceScan::InclusiveScanByKey(memory, bytes, row, source, sink, step, total,
                                               cuda::std::equal_to<>{}, stream);
  });
#else
  return launch_alone(at, [=] {
    T running{};
    for (int64_t i = 0; i < total; ++i) {
      if (i % columns == 0)
        running = Fn::template start<T>();
      auto next = Fn::step(running, from[place(i)]);
      to[place(i)] = options.exclusive ? running : next;
      running = next;
    }
  });
#endif
}

template status scan_rows<addition>(kernel_context&, const int32_t*, int32_t*, int64_t, int64_t,
                                    scan_options);
template status scan_rows<addition>(kernel_context&, const int64_t*, int64_t*, int64_t, int64_t,
                                    scan_options);
template status scan_rows<multiplication>(kernel_context&, const int32_t*, int32_t*, int64_t,
                                          int64_t, scan_options);
template status scan_rows<multiplication>(kernel_context&, const int64_t*, int64_t*, int64_t,
                                          int64_t, scan_options);

result<tensor> partial_sums(kernel_context& at, const tensor& numbers) {
  auto count = numbers.elements();
  TROUPE_ASSIGN(auto sums, tensor::make(dtype::i64, shape{count + 1}, at.memory()));
  scanning::padded_number number{integers{numbers}, count};
  auto* to = sums.template data<int64_t>();
#ifdef __CUDACC__
  TROUPE_TRY(with_workspace(at, [&](void* memory, size_t& bytes, cudaStream_t stream) {
    return cub::DeviceScan::ExclusiveSum(memory, bytes, each_of(number), to, count + 1, stream);
  }));
#else
  TROUPE_TRY(launch_alone(at, [=] {
    int64_t sum = 0;
    for (int64_t i = 0; i <= count; ++i) {
      to[i] = sum;
      sum += number(i);
    }
  }));
#endif
  return sums;
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
