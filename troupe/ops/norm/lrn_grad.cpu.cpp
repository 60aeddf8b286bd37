#include "troupe/ops/norm/lrn.cpu.hpp"

namespace troupe::ops::lrn_grad_cpu {
namespace {

// dx = dy * norm ^ -beta - 2 * alpha * beta * x * sum over neighbours of (dy * y / norm)
template <class T>
status run(kernel_context& at) {
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

extern constexpr kernel_def lrn_grad_cpu{
    .op = "LRNGrad",
    .run = {{dtype::f16, run<float16>},
            {dtype::bf16, run<bfloat16>},
            {dtype::f32, run<float>},
            {dtype::f64, run<double>}},
    .prepare = lrn_state::prepare,
};

} // namespace troupe::ops::lrn_grad_cpu
