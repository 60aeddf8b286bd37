#include "troupe/devices/gpu/cuda/solver.hpp"

#include "troupe/devices/gpu/core/graph_capture.hpp"
#include "troupe/devices/gpu/cuda/libraries.hpp"

#include <cublas_v2.h>
#include <cusolverDn.h>

#include <vector>

namespace troupe::gpu {
namespace {

TROUPE_LIBRARY_FUNCTION(cublas, cublasCreate_v2);
TROUPE_LIBRARY_FUNCTION(cublas, cublasDestroy_v2);
TROUPE_LIBRARY_FUNCTION(cublas, cublasSetStream_v2);
TROUPE_LIBRARY_FUNCTION(cublas, cublasSgetrfBatched);
TROUPE_LIBRARY_FUNCTION(cublas, cublasDgetrfBatched);
TROUPE_LIBRARY_FUNCTION(cublas, cublasSgetrsBatched);
TROUPE_LIBRARY_FUNCTION(cublas, cublasDgetrsBatched);
TROUPE_LIBRARY_FUNCTION(cublas, cublasStrsm_v2);
TROUPE_LIBRARY_FUNCTION(cublas, cublasDtrsm_v2);
TROUPE_LIBRARY_FUNCTION(cublas, cublasStrsmBatched);
TROUPE_LIBRARY_FUNCTION(cublas, cublasDtrsmBatched);

TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnCreate);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnDestroy);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnSetStream);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnCreateParams);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnDestroyParams);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnCreateGesvdjInfo);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnDestroyGesvdjInfo);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnSpotrf_bufferSize);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnDpotrf_bufferSize);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnSpotrf);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnDpotrf);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnSpotrfBatched);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnDpotrfBatched);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnSgetrf_bufferSize);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnDgetrf_bufferSize);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnSgetrf);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnDgetrf);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnSgetrs);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnDgetrs);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnSgeqrf_bufferSize);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnDgeqrf_bufferSize);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnSgeqrf);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnDgeqrf);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnSorgqr_bufferSize);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnDorgqr_bufferSize);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnSorgqr);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnDorgqr);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnSgesvd_bufferSize);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnDgesvd_bufferSize);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnSgesvd);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnDgesvd);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnSgesvdjBatched_bufferSize);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnDgesvdjBatched_bufferSize);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnSgesvdjBatched);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnDgesvdjBatched);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnSsyevd_bufferSize);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnDsyevd_bufferSize);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnSsyevd);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnDsyevd);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnXsyevBatched_bufferSize);
TROUPE_LIBRARY_FUNCTION(cusolver, cusolverDnXsyevBatched);

// Picks the function for the element type.
template <class T, class S, class D>
const auto& pick(const S& single, const D& twice) {
  if constexpr (std::is_same_v<T, float>)
    return single;
  else
    return twice;
}

template <class Body>
status with_type(dtype type, Body body) {
  return type == dtype::f64 ? body(double{}) : body(float{});
}

template <class T>
T* element(const void* array, int64_t i) {
  return static_cast<T*>(const_cast<void*>(array)) + i;
}
template <class T>
T* matrix(const matrix_stack& stack, int64_t i) {
  return element<T>(stack.data, i * stack.size());
}
template <class T>
T** places(const matrix_stack& stack) {
  return reinterpret_cast<T**>(const_cast<void**>(stack.addresses));
}

int narrow(int64_t extent) { return static_cast<int>(extent); }

template <class T>
result<tensor> workspace(const solver::call& at, int items) {
  return tensor::make(dtype::u8, shape{std::max<int64_t>(items, 1) * int64_t{sizeof(T)}},
                      at.memory);
}

constexpr auto upper = CUBLAS_FILL_MODE_UPPER;

class library_solver : public solver {
public:
  status make(gpu_device& target) {
    driver_ = &target.driver();
    TROUPE_TRY(driver_->make_current());
    TROUPE_TRY(cublasCreate_v2(&blas_));
    TROUPE_TRY(cusolverDnCreate(&dense_));
    TROUPE_TRY(cusolverDnCreateParams(params_.out()));
    return cusolverDnCreateGesvdjInfo(jacobi_.out());
  }
  ~library_solver() override {
    if (!driver_ || !driver_->make_current())
      return;
    if (dense_)
      static_cast<void>(cusolverDnDestroy(dense_));
    if (blas_)
      static_cast<void>(cublasDestroy_v2(blas_));
  }

  status potrf(const call& at, const matrix_stack& a, int* info) override {
    return launch(at, [&](auto type_tag) -> status {
      using T = decltype(type_tag);
      auto n = narrow(a.rows);
      if (a.addresses)
        return pick<T>(cusolverDnSpotrfBatched, cusolverDnDpotrfBatched)(
            dense_, upper, n, places<T>(a), n, info, narrow(a.count));
      int items = 0;
      TROUPE_TRY(pick<T>(cusolverDnSpotrf_bufferSize, cusolverDnDpotrf_bufferSize)(
          dense_, upper, n, matrix<T>(a, 0), n, &items));
      TROUPE_ASSIGN(auto work, workspace<T>(at, items));
      for (int64_t i = 0; i < a.count; ++i)
        TROUPE_TRY(pick<T>(cusolverDnSpotrf, cusolverDnDpotrf)(
            dense_, upper, n, matrix<T>(a, i), n, element<T>(work.raw(), 0), items, info + i));
      return {};
    });
  }

  status getrf(const call& at, const matrix_stack& a, int* pivots, int* info) override {
    return launch(at, [&](auto type_tag) -> status {
      using T = decltype(type_tag);
      auto n = narrow(a.rows);
      if (a.addresses)
        return pick<T>(cublasSgetrfBatched, cublasDgetrfBatched)(blas_, n, places<T>(a), n, pivots,
                                                                 info, narrow(a.count));
      int items = 0;
      TROUPE_TRY(pick<T>(cusolverDnSgetrf_bufferSize,
                         cusolverDnDgetrf_bufferSize)(dense_, n, n, matrix<T>(a, 0), n, &items));
      TROUPE_ASSIGN(auto work, workspace<T>(at, items));
      for (int64_t i = 0; i < a.count; ++i)
        TROUPE_TRY(pick<T>(cusolverDnSgetrf, cusolverDnDgetrf)(
            dense_, n, n, matrix<T>(a, i), n, element<T>(work.raw(), 0), pivots + i * n, info + i));
      return {};
    });
  }

  status getrs(const call& at, bool transpose, const matrix_stack& lu, const int* pivots,
               const matrix_stack& b, int* info) override {
    return launch(at, [&](auto type_tag) -> status {
      using T = decltype(type_tag);
      auto n = narrow(lu.rows), columns = narrow(b.columns);
      auto operation = transpose ? CUBLAS_OP_T : CUBLAS_OP_N;
      int invalid_argument = 0; // a number on the host; 0: all arguments are valid
      if (lu.addresses)
        return pick<T>(cublasSgetrsBatched,
                       cublasDgetrsBatched)(blas_, operation, n, columns, places<T>(lu), n, pivots,
                                            places<T>(b), n, &invalid_argument, narrow(lu.count));
      for (int64_t i = 0; i < lu.count; ++i)
        TROUPE_TRY(pick<T>(cusolverDnSgetrs, cusolverDnDgetrs)(dense_, operation, n, columns,
                                                               matrix<T>(lu, i), n, pivots + i * n,
                                                               matrix<T>(b, i), n, info + i));
      return {};
    });
  }

  status trsm(const call& at, bool is_upper, bool transpose, const matrix_stack& a,
              const matrix_stack& b) override {
    return launch(at, [&](auto type_tag) -> status {
      using T = decltype(type_tag);
      auto rows = narrow(b.rows), n = narrow(a.rows);
      auto triangle = is_upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
      auto operation = transpose ? CUBLAS_OP_T : CUBLAS_OP_N;
      const T one = 1;
      if (a.addresses)
        return pick<T>(cublasStrsmBatched, cublasDtrsmBatched)(
            blas_, CUBLAS_SIDE_RIGHT, triangle, operation, CUBLAS_DIAG_NON_UNIT, rows, n, &one,
            places<T>(a), n, places<T>(b), rows, narrow(a.count));
      for (int64_t i = 0; i < a.count; ++i)
        TROUPE_TRY(pick<T>(cublasStrsm_v2, cublasDtrsm_v2)(
            blas_, CUBLAS_SIDE_RIGHT, triangle, operation, CUBLAS_DIAG_NON_UNIT, rows, n, &one,
            matrix<T>(a, i), n, matrix<T>(b, i), rows));
      return {};
    });
  }

  status geqrf(const call& at, const matrix_stack& a, void* tau, int* info) override {
    return launch(at, [&](auto type_tag) -> status {
      using T = decltype(type_tag);
      auto m = narrow(a.rows), n = narrow(a.columns);
      int items = 0;
      TROUPE_TRY(pick<T>(cusolverDnSgeqrf_bufferSize,
                         cusolverDnDgeqrf_bufferSize)(dense_, m, n, matrix<T>(a, 0), m, &items));
      TROUPE_ASSIGN(auto work, workspace<T>(at, items));
      for (int64_t i = 0; i < a.count; ++i)
        TROUPE_TRY(pick<T>(cusolverDnSgeqrf, cusolverDnDgeqrf)(
            dense_, m, n, matrix<T>(a, i), m, element<T>(tau, i * std::min(m, n)),
            element<T>(work.raw(), 0), items, info + i));
      return {};
    });
  }

  status orgqr(const call& at, const matrix_stack& q, int64_t reflectors, const void* tau,
               int* info) override {
    return launch(at, [&](auto type_tag) -> status {
      using T = decltype(type_tag);
      auto m = narrow(q.rows), n = narrow(q.columns), k = narrow(reflectors);
      int items = 0;
      TROUPE_TRY(pick<T>(cusolverDnSorgqr_bufferSize, cusolverDnDorgqr_bufferSize)(
          dense_, m, n, k, matrix<T>(q, 0), m, element<T>(tau, 0), &items));
      TROUPE_ASSIGN(auto work, workspace<T>(at, items));
      for (int64_t i = 0; i < q.count; ++i)
        TROUPE_TRY(pick<T>(cusolverDnSorgqr, cusolverDnDorgqr)(
            dense_, m, n, k, matrix<T>(q, i), m, element<T>(tau, i * k), element<T>(work.raw(), 0),
            items, info + i));
      return {};
    });
  }

  status gesvd(const call& at, singular_vectors vectors, const matrix_stack& a, void* s, void* u,
               void* vt, int* info) override {
    return launch(at, [&](auto type_tag) -> status {
      using T = decltype(type_tag);
      auto m = narrow(a.rows), n = narrow(a.columns);
      auto job = static_cast<signed char>(vectors == singular_vectors::all    ? 'A'
                                          : vectors == singular_vectors::thin ? 'S'
                                                                              : 'N');
      auto columns = vectors == singular_vectors::all ? m : n;
      int items = 0;
      TROUPE_TRY(
          pick<T>(cusolverDnSgesvd_bufferSize, cusolverDnDgesvd_bufferSize)(dense_, m, n, &items));
      TROUPE_ASSIGN(auto work, workspace<T>(at, items));
      auto part = [&](void* array, int64_t i, int64_t size) {
        return array ? element<T>(array, i * size) : nullptr;
      };
      for (int64_t i = 0; i < a.count; ++i)
        TROUPE_TRY(pick<T>(cusolverDnSgesvd, cusolverDnDgesvd)(
            dense_, job, job, m, n, matrix<T>(a, i), m, element<T>(s, i * n),
            part(u, i, int64_t{m} * columns), m, part(vt, i, int64_t{n} * n), n,
            element<T>(work.raw(), 0), items, nullptr, info + i));
      return {};
    });
  }

  status gesvdj(const call& at, bool vectors, const matrix_stack& a, void* s, void* u, void* v,
                int* info) override {
    return launch(at, [&](auto type_tag) -> status {
      using T = decltype(type_tag);
      auto m = narrow(a.rows), n = narrow(a.columns), count = narrow(a.count);
      auto mode = vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
      int items = 0;
      TROUPE_TRY(pick<T>(cusolverDnSgesvdjBatched_bufferSize, cusolverDnDgesvdjBatched_bufferSize)(
          dense_, mode, m, n, matrix<T>(a, 0), m, element<T>(s, 0), element<T>(u, 0), m,
          element<T>(v, 0), n, &items, jacobi_.get(), count));
      TROUPE_ASSIGN(auto work, workspace<T>(at, items));
      return pick<T>(cusolverDnSgesvdjBatched, cusolverDnDgesvdjBatched)(
          dense_, mode, m, n, matrix<T>(a, 0), m, element<T>(s, 0), element<T>(u, 0), m,
          element<T>(v, 0), n, element<T>(work.raw(), 0), items, info, jacobi_.get(), count);
    });
  }

  status syevd(const call& at, bool vectors, const matrix_stack& a, void* values,
               int* info) override {
    return launch(at, [&](auto type_tag) -> status {
      using T = decltype(type_tag);
      auto n = narrow(a.rows);
      auto mode = vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
      if (a.count > 1)
        return batched_eigenvalues(at, mode, a, values, info);
      int items = 0;
      TROUPE_TRY(pick<T>(cusolverDnSsyevd_bufferSize, cusolverDnDsyevd_bufferSize)(
          dense_, mode, upper, n, matrix<T>(a, 0), n, element<T>(values, 0), &items));
      TROUPE_ASSIGN(auto work, workspace<T>(at, items));
      return pick<T>(cusolverDnSsyevd, cusolverDnDsyevd)(dense_, mode, upper, n, matrix<T>(a, 0), n,
                                                         element<T>(values, 0),
                                                         element<T>(work.raw(), 0), items, info);
    });
  }

private:
  status batched_eigenvalues(const call& at, cusolverEigMode_t mode, const matrix_stack& a,
                             void* values, int* info) {
    auto type = at.type == dtype::f64 ? CUDA_R_64F : CUDA_R_32F;
    size_t bytes = 0, host_bytes = 0;
    TROUPE_TRY(cusolverDnXsyevBatched_bufferSize(dense_, params_.get(), mode, upper, a.rows, type,
                                                 a.data, a.rows, type, values, type, &bytes,
                                                 &host_bytes, a.count));
    TROUPE_ASSIGN(auto work,
                  tensor::make(dtype::u8, shape{std::max<int64_t>(static_cast<int64_t>(bytes), 1)},
                               at.memory));
    // A replayed graph would access the host workspace after its end.
    if (host_bytes > 0 && is_recording(at.on))
      return failure(error_kind::unimplemented,
                     "cuSOLVER needs host memory, which a capture cannot keep");
    std::vector<std::byte> host(host_bytes);
    return cusolverDnXsyevBatched(dense_, params_.get(), mode, upper, a.rows, type, a.data, a.rows,
                                  type, values, type, work.raw(), bytes, host.data(), host_bytes,
                                  info, a.count);
  }

  // A handle serves one thread at a time, and launches into the stream that was set last.
  template <class Body>
  status launch(const call& at, Body body) {
    TROUPE_TRY(driver_->make_current());
    std::lock_guard guard{mutex_};
    auto* in = reinterpret_cast<cudaStream_t>(at.on.compute());
    TROUPE_TRY(cublasSetStream_v2(blas_, in));
    TROUPE_TRY(cusolverDnSetStream(dense_, in));
    return with_type(at.type, body);
  }

  driver* driver_ = nullptr;
  std::mutex mutex_;
  cublasHandle_t blas_ = nullptr;
  cusolverDnHandle_t dense_ = nullptr;
  library_object<cusolverDnParams_t, cusolverDnDestroyParams> params_;
  library_object<gesvdjInfo_t, cusolverDnDestroyGesvdjInfo> jacobi_;
};

} // namespace

result<solver*> cuda_solver(gpu_device& target) {
  TROUPE_ASSIGN(auto* shared, target.get_or_make<library_solver>(
                                  [](gpu_device& owner) -> result<std::shared_ptr<library_solver>> {
                                    auto created = std::make_shared<library_solver>();
                                    TROUPE_TRY(created->make(owner));
                                    return created;
                                  }));
  return shared;
}

} // namespace troupe::gpu
