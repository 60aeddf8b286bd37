#include "troupe/ops/activation/shared/rows.cpu.hpp"
#include "troupe/ops/loss/shared/cross_entropy_rows.hpp"

namespace troupe::ops::sparse_softmax_cross_entropy_with_logits_cpu {
namespace {

template <class Label>
status check(const tensor& labels, int64_t classes) {
  auto values = labels.values<Label>();
  for (size_t row = 0; row < values.size(); ++row)
    if (values[row] < 0 || values[row] >= classes)
      return invalid("label ", values[row], " of row ", row, " is not in [0, ", classes, ")");
  return {};
}

template <class T, class Label>
status run(kernel_context& at, const shape& dims) {
  const auto& labels = at.input(1);
  auto size = dims[1];
  TROUPE_TRY(check<Label>(labels, size));
  TROUPE_ASSIGN(auto* loss, at.allocate(0, shape{dims[0]}));
  TROUPE_ASSIGN(auto* backprop, at.allocate(1, dims));
  const auto* x = at.input(0).data<T>();
  const auto* label = labels.data<Label>();
  auto* losses = loss->template data<T>();
  auto* dx = backprop->template data<T>();
  at.parallel_for(dims[0], nanoseconds_per_exponential * static_cast<double>(size),
                  [&](int64_t begin, int64_t end) {
                    staged_row<T> read{size}, written{size};
                    for (auto i = begin; i < end; ++i) {
                      auto logits = read.from(x + i * size);
                      auto gradient = written.over(dx + i * size);
                      auto largest = logits.maxCoeff();
                      gradient = (logits - largest).exp();
                      auto sum = gradient.sum();
                      losses[i] = static_cast<T>(std::log(sum) + largest - logits[label[i]]);
                      gradient /= sum;
                      gradient[label[i]] -= 1;
                      written.to(dx + i * size);
                    }
                  });
  return {};
}

template <class T>
status run(kernel_context& at) {
  const auto &dims = at.input(0).dims(), &rows = at.input(1).dims();
  TROUPE_TRY(check_sparse_cross_entropy(dims, rows));
  return at.input(1).type() == dtype::i32 ? run<T, int32_t>(at, dims) : run<T, int64_t>(at, dims);
}

} // namespace

extern constexpr kernel_def sparse_softmax_cross_entropy_with_logits_cpu{
    .op = "SparseSoftmaxCrossEntropyWithLogits",
    .device = device_kind::cpu,
    .run = {{dtype::f16, run<float16>},
            {dtype::bf16, run<bfloat16>},
            {dtype::f32, run<float>},
            {dtype::f64, run<double>}},
};

} // namespace troupe::ops::sparse_softmax_cross_entropy_with_logits_cpu
