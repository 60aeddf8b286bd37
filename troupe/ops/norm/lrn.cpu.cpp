#include "troupe/ops/norm/lrn.cpu.hpp"

namespace troupe::ops::lrn_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
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

} // namespace

extern constexpr kernel_def lrn_cpu{
    .op = "LRN",
    .run = {{dtype::f16, run<float16>},
            {dtype::bf16, run<bfloat16>},
            {dtype::f32, run<float>},
            {dtype::f64, run<double>}},
    .prepare = lrn_state::prepare,
};

} // namespace troupe::ops::lrn_cpu
