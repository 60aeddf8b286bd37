#include "troupe/ops/linalg/shared/solver.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

struct multiplied {
  TROUPE_DEVICE static double step(double a, double b) { return a * b; }
};
struct summed_logs {
  TROUPE_DEVICE static double step(double a, double b) { return a + b; }
};

// The determinant of the factors l, whose diagonal is 1, u, and a permutation. Each row that the
// permutation moves flips the sign.
template <class T, class Sink>
struct determinant_body {
  const T* lu;
  const int* pivots;
  int64_t n;
  Sink sink;

  template <class Group>
  TROUPE_DEVICE void operator()(int64_t matrix, const Group& group) const {
    double product = 1, sign = 1, logs = 0;
    for (int64_t i = group.rank(); i < n; i += group.size()) {
      auto pivot = static_cast<double>(lu[matrix * n * n + i * (n + 1)]);
      auto moved = pivots[matrix * n + i] != i + 1;
      if constexpr (Sink::wants_log) {
        sign *= pivot > 0 ? 1 : pivot < 0 ? -1 : pivot; // 0, or NaN
        logs += log(fabs(pivot));
      } else {
        product *= pivot;
      }
      sign = moved ? -sign : sign;
    }
    sign = group.template all<multiplied>(sign);
    if constexpr (Sink::wants_log)
      logs = group.template all<summed_logs>(logs);
    else
      product = group.template all<multiplied>(product);
    if (group.rank() == 0)
      sink(matrix, sign, Sink::wants_log ? logs : product);
  }
};

template <class T>
struct determinant_sink {
  static constexpr bool wants_log = false;
  T* to;
  TROUPE_DEVICE void operator()(int64_t i, double sign, double product) const {
    to[i] = static_cast<T>(sign * product);
  }
};
template <class T>
struct log_determinant_sink {
  static constexpr bool wants_log = true;
  T *signs, *logs;
  TROUPE_DEVICE void operator()(int64_t i, double sign, double log) const {
    signs[i] = static_cast<T>(sign);
    logs[i] = static_cast<T>(sign == 0 ? -std::numeric_limits<double>::infinity() : log);
  }
};

// Passes the determinant of each matrix of input 0 to the sink: a sign, and a value or its
// logarithm.
template <class T, class Sink>
status find_determinants(kernel_context& at, const matrix_batch& batch, Sink sink) {
  if (batch.count == 0)
    return {};
  factors lu;
  if (batch.rows > 0) {
    TROUPE_ASSIGN(lu, factor<T>(at, at.input(0), batch));
  }
  return for_each_group(
      at, batch.count, batch.rows,
      determinant_body<T, Sink>{static_cast<const T*>(lu.stack.of.data),
                                batch.rows > 0 ? lu.pivots.data<int32_t>() : nullptr, batch.rows,
                                sink});
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu

namespace troupe::ops::determinant_gpu {
namespace {

struct determinant_on_gpu {
  template <class T>
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto batch, square_matrices_of(at.input(0)));
    TROUPE_ASSIGN(auto dims, with_matrix(at.input(0).dims(), {}));
    TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
    return gpu::find_determinants<T>(at, batch, gpu::determinant_sink<T>{out->template data<T>()});
  }
};

struct log_determinant_on_gpu {
  template <class T>
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto batch, square_matrices_of(at.input(0)));
    TROUPE_ASSIGN(auto dims, with_matrix(at.input(0).dims(), {}));
    TROUPE_ASSIGN(auto* sign, at.allocate(0, dims));
    TROUPE_ASSIGN(auto* log, at.allocate(1, dims));
    return gpu::find_determinants<T>(
        at, batch, gpu::log_determinant_sink<T>{sign->template data<T>(), log->template data<T>()});
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(matrix_determinant){
    .op = "MatrixDeterminant",
    .device = device_kind::gpu,
    .run = kernels_of<determinant_on_gpu>(gpu::solved_types),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(log_matrix_determinant){
    .op = "LogMatrixDeterminant",
    .device = device_kind::gpu,
    .run = kernels_of<log_determinant_on_gpu>(gpu::solved_types),
};

} // namespace troupe::ops::determinant_gpu
