#include "troupe/ops/segment/bincount.hpp"

#include "troupe/ops/kernel/element_types.hpp"

#include <algorithm>
#include <functional>

namespace troupe::ops::bincount_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
  const auto &arr = at.input(0), &weights = at.input(2);
  TROUPE_ASSIGN(auto size, bins_of(at));
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{size}));
  auto* bins = out->template data<T>();
  std::fill_n(bins, size, T{});
  const auto* numbers = arr.data<int32_t>();
  const T* weight = weights.elements() > 0 ? weights.data<T>() : nullptr;
  for (int64_t i = 0; i < arr.elements(); ++i) {
    if (i % 1'000'000 == 999'999 && at.stopped())
      return {};
    auto number = numbers[i];
    if (number < 0)
      return invalid("arr must not have negative numbers, got ", number);
    if (number < size)
      bins[number] = wrapping(std::plus<>{}, bins[number], weight ? weight[i] : T{1});
  }
  return {};
}

} // namespace

extern constexpr kernel_def bincount_cpu{
    .op = "Bincount",
    .run = {{dtype::i32, run<int32_t>},
            {dtype::i64, run<int64_t>},
            {dtype::f32, run<float>},
            {dtype::f64, run<double>}},
};

} // namespace troupe::ops::bincount_cpu
