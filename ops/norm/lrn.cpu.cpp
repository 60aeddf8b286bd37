#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/ops/norm/shared/lrn_state.hpp"

#include <cmath>

namespace troupe::ops::lrn_cpu {
namespace {

// Sums each value of a row and its neighbours up to `radius` away.
template <class N>
void sum_neighbours(const std::vector<N>& values, int64_t radius, std::vector<N>& sums) {
  auto count = static_cast<int64_t>(values.size());
  radius = std::min(radius, count);
  for (int64_t c = 0; c < count; ++c) {
    N sum{};
    for (auto i = std::max<int64_t>(0, c - radius); i <= std::min(count - 1, c + radius); ++i)
      sum += values[static_cast<size_t>(i)];
    sums[static_cast<size_t>(c)] = sum;
  }
}

// The sums of squares around each element of a row, times alpha, plus bias.
template <class T, class N>
void lrn_norms(const lrn_state& state, const T* x, std::vector<N>& squares, std::vector<N>& norms) {
  for (size_t c = 0; c < squares.size(); ++c)
    squares[c] = static_cast<N>(widen(x[c])) * static_cast<N>(widen(x[c]));
  sum_neighbours(squares, state.radius, norms);
  for (auto& norm : norms)
    norm = static_cast<N>(state.bias) + static_cast<N>(state.alpha) * norm;
}

// Calls `body(begin, end, channels)` for ranges that cover all rows.
template <class Body>
void for_each_lrn_row(kernel_context& at, const shape& dims, const Body& body) {
  auto channels = dims[3];
  if (dims.elements() == 0)
    return;
  auto window = static_cast<double>(
      std::min(channels, 2 * std::min(channels, at.state<lrn_state>().radius) + 1));
  at.parallel_for(dims.elements() / channels, static_cast<double>(channels) * (10 + window),
                  [&](int64_t begin, int64_t end) { body(begin, end, channels); });
}

template <class T>
status run_lrn(kernel_context& at) {
  const auto& input = at.input(0);
  TROUPE_TRY(check_lrn(input.dims()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, input.dims()));
  const auto& state = at.state<lrn_state>();
  using number = compute_type<T>;
  for_each_lrn_row(at, input.dims(), [&](int64_t begin, int64_t end, int64_t channels) {
    std::vector<number> squares(static_cast<size_t>(channels)), norms = squares;
    for (auto row = begin; row < end; ++row) {
      const auto* x = input.data<T>() + row * channels;
      auto* y = out->template data<T>() + row * channels;
      lrn_norms(state, x, squares, norms);
      for (size_t c = 0; c < norms.size(); ++c)
        y[c] = static_cast<T>(static_cast<number>(widen(x[c])) *
                              std::pow(norms[c], static_cast<number>(-state.beta)));
    }
  });
  return {};
}

// dx = dy * norm ^ -beta - 2 * alpha * beta * x * sum over neighbours of (dy * y / norm)
template <class T>
status run_lrn_grad(kernel_context& at) {
  const auto &gradient = at.input(0), &input = at.input(1), &output = at.input(2);
  TROUPE_TRY(check_lrn_gradient(gradient.dims(), input.dims(), output.dims()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, input.dims()));
  const auto& state = at.state<lrn_state>();
  using number = compute_type<T>;
  auto slope = static_cast<number>(2 * state.alpha * state.beta);
  for_each_lrn_row(at, input.dims(), [&](int64_t begin, int64_t end, int64_t channels) {
    std::vector<number> shares(static_cast<size_t>(channels)), norms = shares, sums = shares;
    for (auto row = begin; row < end; ++row) {
      const auto *x = input.data<T>() + row * channels, *y = output.data<T>() + row * channels,
                 *dy = gradient.data<T>() + row * channels;
      auto* dx = out->template data<T>() + row * channels;
      lrn_norms(state, x, shares, norms);
      for (size_t c = 0; c < norms.size(); ++c)
        shares[c] = static_cast<number>(widen(dy[c])) * static_cast<number>(widen(y[c])) / norms[c];
      sum_neighbours(shares, state.radius, sums);
      for (size_t c = 0; c < norms.size(); ++c)
        dx[c] = static_cast<T>(static_cast<number>(widen(dy[c])) *
                                   std::pow(norms[c], static_cast<number>(-state.beta)) -
                               slope * static_cast<number>(widen(x[c])) * sums[c]);
    }
  });
  return {};
}

} // namespace

extern constexpr kernel_def lrn_cpu{
    .op = "LRN",
    .run = {{dtype::f16, run_lrn<float16>},
            {dtype::bf16, run_lrn<bfloat16>},
            {dtype::f32, run_lrn<float>},
            {dtype::f64, run_lrn<double>}},
    .prepare = lrn_state::prepare,
};

extern constexpr kernel_def lrn_grad_cpu{
    .op = "LRNGrad",
    .run = {{dtype::f16, run_lrn_grad<float16>},
            {dtype::bf16, run_lrn_grad<bfloat16>},
            {dtype::f32, run_lrn_grad<float>},
            {dtype::f64, run_lrn_grad<double>}},
    .prepare = lrn_state::prepare,
};

} // namespace troupe::ops::lrn_cpu
