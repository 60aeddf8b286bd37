#include "troupe/ops/linalg/shared/solver.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

struct multiplied {
  TROUPE_DEVICE static double step(double a, double b) { return a * b; }
};
struct summed_logs {
  TROUPE_DEVICE static double step(double a, double b) { return a + b; }
};

// Of l, whose diagonal is 1, u, and a permutation, for each of which that a row moves the sign
// changes.
template <class T, class Sink>
struct determinant_body {
  const T* lu;
  const int* pivots;
  int64_t n;
  Sink sink;

  template <class Group>
  TROUPE_DEVICE void operator()(int64_t matrix, const Group& by) const {
    double product = 1, sign = 1, logs = 0;
    for (int64_t i = by.rank(); i < n; i += by.size()) {
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
    sign = by.template all<multiplied>(sign);
    if constexpr (Sink::wants_log)
      logs = by.template all<summed_logs>(logs);
    else
      product = by.template all<multiplied>(product);
    if (by.rank() == 0)
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

// Gives the determinant of each matrix of input 0 to the sink: a sign, and a value or its log.
template <class T, class Sink>
status find_determinants(kernel_context& at, const matrix_batch& of, Sink sink) {
  if (of.count == 0)
    return {};
  factors lu;
  if (of.rows > 0) {
    TROUPE_ASSIGN(lu, factor<T>(at, at.input(0), of));
  }
  return for_each_group(at, of.count, of.rows,
                        determinant_body<T, Sink>{static_cast<const T*>(lu.stack.of.data),
                                                  of.rows > 0 ? lu.pivots.data<int32_t>() : nullptr,
                                                  of.rows, sink});
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu

namespace troupe::ops::determinant_gpu {
namespace {

struct determinant_on_gpu {
  template <class T>
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto of, square_matrices_of(at.input(0)));
    TROUPE_ASSIGN(auto dims, with_matrix(at.input(0).dims(), {}));
    TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
    return gpu::find_determinants<T>(at, of, gpu::determinant_sink<T>{out->template data<T>()});
  }
};

struct log_determinant_on_gpu {
  template <class T>
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto of, square_matrices_of(at.input(0)));
    TROUPE_ASSIGN(auto dims, with_matrix(at.input(0).dims(), {}));
    TROUPE_ASSIGN(auto* sign, at.allocate(0, dims));
    TROUPE_ASSIGN(auto* log, at.allocate(1, dims));
    return gpu::find_determinants<T>(
        at, of, gpu::log_determinant_sink<T>{sign->template data<T>(), log->template data<T>()});
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
