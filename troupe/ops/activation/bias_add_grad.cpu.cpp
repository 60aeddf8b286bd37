#include "troupe/ops/activation/shared/bias.hpp"
#include "troupe/ops/kernel/element_types.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace troupe::ops::bias_add_grad_cpu {
namespace {

// Sums in the type that keeps small addends; whole numbers wrap around instead of overflowing.
template <class T>
using sum_type = std::conditional_t<std::is_integral_v<T>, uint64_t, compute_type<T>>;

template <class T>
constexpr int64_t channels_per_line = std::max<int64_t>(16, 64 / sizeof(T));
template <class T>
constexpr int64_t longest_part = 16 * channels_per_line<T>;

// Adds up channels [begin, end), row by row, so that memory is read nearly in its order.
template <class T>
void sum_channels(kernel_context& at, const T* x, const channel_view& view, int64_t begin,
                  int64_t end, T* y) {
  std::array<sum_type<T>, longest_part<T>> all{};
  auto sums = std::span{all}.first(static_cast<size_t>(end - begin));
  auto look_each =
      std::max<int64_t>(1, 500'000 / ((end - begin) * std::max<int64_t>(1, view.inner)));
  for (int64_t row = 0; row < view.outer; ++row) {
    if (row % look_each == look_each - 1 && at.stopped())
      return;
    const auto* from = x + (row * view.channels + begin) * view.inner;
    if (view.inner == 1) {
      for (size_t c = 0; c < sums.size(); ++c)
        sums[c] += static_cast<sum_type<T>>(from[c]);
    } else {
      for (auto& sum : sums)
        for (int64_t i = 0; i < view.inner; ++i)
          sum += static_cast<sum_type<T>>(*from++);
    }
  }
  std::ranges::transform(sums, y + begin, [](auto sum) { return static_cast<T>(sum); });
}

template <class T>
status run(kernel_context& at) {
  const auto& value = at.input(0);
  TROUPE_ASSIGN(auto view, view_channels(value.dims(), at.state<bool>()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{view.channels}));
  const auto* x = value.data<T>();
  auto* y = out->template data<T>();
  // A strip is a cache line wide, so that threads do not share lines.
  constexpr auto strip = channels_per_line<T>;
  auto cost = 0.6 * static_cast<double>(view.outer) * static_cast<double>(view.inner) *
              static_cast<double>(std::min(strip, view.channels));
  at.device().parallel_for( // looks at the stop signal itself, and may go along whole rows
      (view.channels + strip - 1) / strip, cost, [&](int64_t begin, int64_t end) {
        end = std::min(end * strip, view.channels);
        for (begin *= strip; begin < end; begin += longest_part<T>)
          sum_channels(at, x, view, begin, std::min(begin + longest_part<T>, end), y);
      });
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> table(type_list<Ts...>) {
  return {{dtype_of<Ts>, run<Ts>}...};
}

} // namespace

extern constexpr kernel_def bias_add_grad_cpu{
    .op = "BiasAddGrad",
    .device = device_kind::cpu,
    .run = table(types::numbers),
    .prepare = prepare_bias,
};

} // namespace troupe::ops::bias_add_grad_cpu
