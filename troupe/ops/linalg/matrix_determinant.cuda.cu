#include "troupe/ops/linalg/shared/determinant.cuda.hpp"

namespace troupe::ops::matrix_determinant_gpu {
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

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(matrix_determinant){
    .op = "MatrixDeterminant",
    .device = device_kind::gpu,
    .run = kernels_of<determinant_on_gpu>(gpu::solved_types),
};

} // namespace troupe::ops::matrix_determinant_gpu
