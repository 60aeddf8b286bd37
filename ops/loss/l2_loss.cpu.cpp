#include "troupe/devices/cpu/eigen.hpp"
#include "troupe/ops/kernel/element_types.hpp"

#include <vector>

namespace troupe::ops::l2_loss_cpu {
namespace {

template <class T>
compute_type<T> squares(const tensor& values, int64_t begin, int64_t end) {
  if constexpr (is_half<T>) {
    float sum = 0;
    for (const auto* x = values.data<T>() + begin; x != values.data<T>() + end; ++x)
      sum += widen(*x) * widen(*x);
    return sum;
  } else {
    return begin == end ? T{0} : flat<T>(values, begin, end).square().sum();
  }
}

// Blocks of a fixed size, added in order: the result does not depend on the number of threads.
template <class T>
status run(kernel_context& at) {
  const auto& in = at.input(0);
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{}));
  constexpr int64_t block = 16'384;
  auto size = in.elements();
  auto sum = compute_type<T>{0};
  if (size <= block) {
    sum = squares<T>(in, 0, size);
  } else {
    std::vector<compute_type<T>> sums(static_cast<size_t>((size + block - 1) / block));
    at.parallel_for(static_cast<int64_t>(sums.size()), 0.3 * block,
                    [&](int64_t begin, int64_t end) {
                      for (auto i = begin; i < end; ++i)
                        sums[static_cast<size_t>(i)] =
                            squares<T>(in, i * block, std::min((i + 1) * block, size));
                    });
    for (auto block_sum : sums)
      sum += block_sum;
  }
  *out->template data<T>() = static_cast<T>(sum / 2);
  return {};
}

} // namespace

extern constexpr kernel_def l2_loss_cpu{
    .op = "L2Loss",
    .device = device_kind::cpu,
    .run = {{dtype::f16, run<float16>},
            {dtype::bf16, run<bfloat16>},
            {dtype::f32, run<float>},
            {dtype::f64, run<double>}},
};

} // namespace troupe::ops::l2_loss_cpu
