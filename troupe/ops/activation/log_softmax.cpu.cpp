#include "troupe/ops/activation/shared/rows.cpu.hpp"

namespace troupe::ops::log_softmax_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
  return map_rows<T>(at, [](row<T> x, row<T> y) {
    y = x - x.maxCoeff();
    y -= std::log(y.exp().sum());
  });
}

} // namespace

extern constexpr kernel_def log_softmax_cpu{
    .op = "LogSoftmax",
    .device = device_kind::cpu,
    .run = {{dtype::f16, run<float16>},
            {dtype::bf16, run<bfloat16>},
            {dtype::f32, run<float>},
            {dtype::f64, run<double>}},
};

} // namespace troupe::ops::log_softmax_cpu
