#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/ops/sparse/shared/sparse.hpp"

#include <cmath>

namespace troupe::ops::sparse_softmax_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
  using wide = compute_type<T>;
  TROUPE_ASSIGN(auto x, sparse_view::read(at, sparse_inputs{0}));
  if (x.rank() < 2)
    return invalid("the sparse tensor must have at least 2 axes, got shape ", x.dims());
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{x.count()}));
  const auto* from = x.values().data<T>();
  auto* to = out->template data<T>();
  auto order = x.sorted();
  auto row_of = [&](size_t i) {
    return x.positions()[static_cast<size_t>(order[i])] / x.dims()[x.rank() - 1];
  };
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    auto largest = wide{widen(from[order[begin]])};
    for (; end < order.size() && row_of(end) == row_of(begin); ++end)
      largest = std::max(largest, wide{widen(from[order[end]])});
    wide sum = 0;
    for (auto i = begin; i < end; ++i)
      sum += std::exp(wide{widen(from[order[i]])} - largest);
    for (auto i = begin; i < end; ++i)
      to[order[i]] = static_cast<T>(std::exp(wide{widen(from[order[i]])} - largest) / sum);
  }
  return {};
}

} // namespace

extern constexpr kernel_def sparse_softmax_cpu{
    .op = "SparseSoftmax",
    .run = {{dtype::f16, run<float16>}, {dtype::f32, run<float>}, {dtype::f64, run<double>}},
};

} // namespace troupe::ops::sparse_softmax_cpu
