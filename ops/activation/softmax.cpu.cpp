#include "troupe/ops/activation/shared/rows.cpu.hpp"

#include <cmath>

namespace troupe::ops::softmax_cpu {
namespace {

template <class T>
status run_softmax(kernel_context& at) {
  return map_rows<T>(at, [](row<T> x, row<T> y) {
    y = (x - x.maxCoeff()).exp();
    y /= y.sum();
  });
}

template <class T>
status run_log_softmax(kernel_context& at) {
  return map_rows<T>(at, [](row<T> x, row<T> y) {
    y = x - x.maxCoeff();
    y -= std::log(y.exp().sum());
  });
}

} // namespace

extern constexpr kernel_def softmax_cpu{
    .op = "Softmax",
    .device = device_kind::cpu,
    .run = {{dtype::f16, run_softmax<float16>},
            {dtype::bf16, run_softmax<bfloat16>},
            {dtype::f32, run_softmax<float>},
            {dtype::f64, run_softmax<double>}},
};

extern constexpr kernel_def log_softmax_cpu{
    .op = "LogSoftmax",
    .device = device_kind::cpu,
    .run = {{dtype::f16, run_log_softmax<float16>},
            {dtype::bf16, run_log_softmax<bfloat16>},
            {dtype::f32, run_log_softmax<float>},
            {dtype::f64, run_log_softmax<double>}},
};

} // namespace troupe::ops::softmax_cpu
