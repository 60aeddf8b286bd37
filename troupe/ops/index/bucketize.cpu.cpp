#include "troupe/ops/index/bucketize.hpp"
#include "troupe/ops/kernel/element_types.hpp"

#include <algorithm>

namespace troupe::ops::bucketize_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
  const auto& in = at.input(0);
  TROUPE_ASSIGN(auto* out, at.allocate(0, in.dims()));
  const auto& sorted = at.state<bucket_boundaries>();
  const auto* x = in.data<T>();
  auto* to = out->template data<int32_t>();
  at.parallel_for(in.elements(), 10, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i)
      to[i] = static_cast<int32_t>(std::ranges::upper_bound(sorted, x[i]) - sorted.begin());
  });
  return {};
}

} // namespace

extern constexpr kernel_def bucketize_cpu{
    .op = "Bucketize",
    .run = {{dtype::i32, run<int32_t>},
            {dtype::i64, run<int64_t>},
            {dtype::f32, run<float>},
            {dtype::f64, run<double>}},
    .prepare = prepare_buckets,
};

} // namespace troupe::ops::bucketize_cpu
