#include "troupe/ops/conv/shared/window_walk.hpp"
#include "troupe/ops/pool/shared/pooling.cpu.hpp"
#include "troupe/ops/quantized/shared/quantized_pooling.hpp"

namespace troupe::ops::quantized_pool_cpu {
namespace {

template <class T>
status run_quantized_avg_pool(kernel_context& at) {
  TROUPE_TRY(keep_range(at));
  TROUPE_ASSIGN(auto geometry, make_pooling(at, at.input(0).dims()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, geometry.output));
  if (out->elements() == 0)
    return {};
  const auto* x = at.input(0).data<T>();
  auto* y = out->template data<T>();
  at.parallel_for(
      geometry.images * geometry.outputs(), geometry.cost(), [&](int64_t begin, int64_t end) {
        std::vector<int64_t> sums(static_cast<size_t>(geometry.channels));
        for (auto i = begin; i < end; ++i) {
          std::ranges::fill(sums, 0);
          auto where = place_of(i, geometry.axes, &window_axis::out);
          for_each_element(geometry.axes, where, [&](int64_t, int64_t pixel) {
            const auto* row = x + pixel * geometry.channels;
            for (size_t c = 0; c < sums.size(); ++c)
              sums[c] += row[c];
          });
          auto count = std::max<int64_t>(1, elements_in(geometry.axes, where));
          std::ranges::transform(sums, y + i * geometry.channels,
                                 [&](int64_t sum) { return static_cast<T>(sum / count); });
        }
      });
  return {};
}

template <class T>
status run_quantized_max_pool(kernel_context& at) {
  TROUPE_TRY(keep_range(at));
  return max_pool<T>(at);
}

} // namespace

extern constexpr kernel_def quantized_avg_pool_cpu{
    .op = "QuantizedAvgPool",
    .run = {{dtype::u8, run_quantized_avg_pool<uint8_t>},
            {dtype::i8, run_quantized_avg_pool<int8_t>}},
    .prepare = prepare_pool<quantized_pool>,
};

extern constexpr kernel_def quantized_max_pool_cpu{
    .op = "QuantizedMaxPool",
    .run = {{dtype::u8, run_quantized_max_pool<uint8_t>},
            {dtype::i8, run_quantized_max_pool<int8_t>}},
    .prepare = prepare_pool<quantized_pool>,
};

} // namespace troupe::ops::quantized_pool_cpu
