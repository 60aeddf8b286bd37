#include "troupe/ops/activation/shared/rows.cpu.hpp"
#include "troupe/ops/loss/shared/cross_entropy_rows.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::ops::cross_entropy_cpu {
namespace {

// loss = sum(labels * (log(sum(exp(x))) - x)). A class with label 0 contributes 0 even when its
// logit is infinite.
template <class T>
T cross_entropy(row<T> x, row<T> labels, row<T> backprop) {
  auto largest = x.maxCoeff();
  backprop = (x - largest).exp();
  auto sum = backprop.sum();
  auto log_sum = std::log(sum) + largest;
  compute_type<T> loss{0};
  for (int64_t c = 0; c < x.size(); ++c)
    if (labels[c] != 0)
      loss += labels[c] * (log_sum - x[c]);
  backprop = backprop / sum - labels;
  return static_cast<T>(loss);
}

template <class T>
status run_softmax_cross_entropy_with_logits(kernel_context& at) {
  const auto &features = at.input(0), &labels = at.input(1);
  const auto& dims = features.dims();
  TROUPE_TRY(check_cross_entropy(dims, labels.dims()));
  TROUPE_ASSIGN(auto* loss, at.allocate(0, shape{dims[0]}));
  TROUPE_ASSIGN(auto* backprop, at.allocate(1, dims));
  auto size = dims[1];
  auto* losses = loss->template data<T>();
  if (size == 0) {
    std::fill_n(losses, dims[0], T{});
    return {};
  }
  const auto *x = features.data<T>(), *y = labels.data<T>();
  auto* dx = backprop->template data<T>();
  at.parallel_for(dims[0], nanoseconds_per_exponential * static_cast<double>(size),
                  [&](int64_t begin, int64_t end) {
                    staged_row<T> logits{size}, wanted{size}, written{size};
                    for (auto i = begin; i < end; ++i) {
                      losses[i] =
                          cross_entropy<T>(logits.from(x + i * size), wanted.from(y + i * size),
                                           written.over(dx + i * size));
                      written.to(dx + i * size);
                    }
                  });
  return {};
}

template <class Label>
status check(const tensor& labels, int64_t classes) {
  auto values = labels.values<Label>();
  for (size_t row = 0; row < values.size(); ++row)
    if (values[row] < 0 || values[row] >= classes)
      return invalid("label ", values[row], " of row ", row, " is not in [0, ", classes, ")");
  return {};
}

template <class T, class Label>
status run_sparse_softmax_cross_entropy_with_logits(kernel_context& at, const shape& dims) {
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
status run_sparse_softmax_cross_entropy_with_logits(kernel_context& at) {
  const auto &dims = at.input(0).dims(), &rows = at.input(1).dims();
  TROUPE_TRY(check_sparse_cross_entropy(dims, rows));
  return at.input(1).type() == dtype::i32
             ? run_sparse_softmax_cross_entropy_with_logits<T, int32_t>(at, dims)
             : run_sparse_softmax_cross_entropy_with_logits<T, int64_t>(at, dims);
}

} // namespace

extern constexpr kernel_def softmax_cross_entropy_with_logits_cpu{
    .op = "SoftmaxCrossEntropyWithLogits",
    .device = device_kind::cpu,
    .run = {{dtype::f16, run_softmax_cross_entropy_with_logits<float16>},
            {dtype::bf16, run_softmax_cross_entropy_with_logits<bfloat16>},
            {dtype::f32, run_softmax_cross_entropy_with_logits<float>},
            {dtype::f64, run_softmax_cross_entropy_with_logits<double>}},
};

extern constexpr kernel_def sparse_softmax_cross_entropy_with_logits_cpu{
    .op = "SparseSoftmaxCrossEntropyWithLogits",
    .device = device_kind::cpu,
    .run = {{dtype::f16, run_sparse_softmax_cross_entropy_with_logits<float16>},
            {dtype::bf16, run_sparse_softmax_cross_entropy_with_logits<bfloat16>},
            {dtype::f32, run_sparse_softmax_cross_entropy_with_logits<float>},
            {dtype::f64, run_sparse_softmax_cross_entropy_with_logits<double>}},
};

} // namespace troupe::ops::cross_entropy_cpu
