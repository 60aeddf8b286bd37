#include "troupe/ops/linalg/shared/determinant.cuda.hpp"

namespace troupe::ops::log_matrix_determinant_gpu {
namespace {

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

extern constexpr kernel_def TROUPE_GPU_KERNEL(log_matrix_determinant){
    .op = "LogMatrixDeterminant",
    .device = device_kind::gpu,
    .run = kernels_of<log_determinant_on_gpu>(gpu::solved_types),
};

} // namespace troupe::ops::log_matrix_determinant_gpu
