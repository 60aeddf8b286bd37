#include "troupe/devices/cpu/gemm.hpp"

#include <algorithm>
#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>

#include <Eigen/Core>

namespace troupe {
namespace {

/// One block of a product: the operands with the distance between their stored rows.
template <class T>
struct product {
  bool transpose_a, transpose_b;
  int64_t m, n, k;
  const T* a;
  int64_t a_stride;
  const T* b;
  int64_t b_stride;
  T* c;
  int64_t c_stride;

  product rows(int64_t begin, int64_t end) const {
    auto part = *this;
    part.m = end - begin;
    part.a += transpose_a ? begin : begin * a_stride;
    part.c += begin * c_stride;
    return part;
  }
  product columns(int64_t begin, int64_t end) const {
    auto part = *this;
    part.n = end - begin;
    part.b += transpose_b ? begin * b_stride : begin;
    part.c += begin;
    return part;
  }
};

/// Keeps oneDNN on the calling thread: its OpenMP pool would compete with ours, and its threads spin
/// after each product. Looked up at run time, because oneDNN may be built on another thread library.
class one_openmp_thread {
public:
  one_openmp_thread() {
    if (!functions().set || !functions().get)
      return;
    before_ = functions().get();
    if (before_ != 1)
      functions().set(1);
  }
  ~one_openmp_thread() {
    if (before_ > 1)
      functions().set(before_);
  }
  one_openmp_thread(const one_openmp_thread&) = delete;
  one_openmp_thread& operator=(const one_openmp_thread&) = delete;

private:
  struct found {
    void (*set)(int) = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
    int (*get)() = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
  };
  static const found& functions() {
    static const found them;
    return them;
  }
  int before_ = 1;
};

template <class T>
using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using const_operand = Eigen::Map<const matrix<T>, 0, Eigen::OuterStride<>>;

/// Eigen's loop is compiled once per transposition; row-major b times a column-major a is the same as
/// one with the operands' strides exchanged, which a dynamic inner stride expresses, at a loss. Hence
/// four cases.
status multiply(const product<double>& what) {
  using stride = Eigen::OuterStride<>;
  Eigen::Map<matrix<double>, 0, stride> c{what.c, what.m, what.n, stride{what.c_stride}};
  const_operand<double> a{what.a, what.transpose_a ? what.k : what.m,
                          what.transpose_a ? what.m : what.k, stride{what.a_stride}};
  const_operand<double> b{what.b, what.transpose_b ? what.n : what.k,
                          what.transpose_b ? what.k : what.n, stride{what.b_stride}};
  if (what.transpose_a && what.transpose_b)
    c.noalias() = a.transpose() * b.transpose();
  else if (what.transpose_a)
    c.noalias() = a.transpose() * b;
  else if (what.transpose_b)
    c.noalias() = a * b.transpose();
  else
    c.noalias() = a * b;
  return {};
}

status multiply(const product<float>& what) {
  one_openmp_thread guard;
  auto outcome = dnnl_sgemm(what.transpose_a ? 'T' : 'N', what.transpose_b ? 'T' : 'N', what.m,
                            what.n, what.k, 1.0f, what.a, what.a_stride, what.b, what.b_stride,
                            0.0f, what.c, what.c_stride);
  if (outcome == dnnl_success)
    return {};
  if (outcome == dnnl_out_of_memory)
    return failure(error_kind::resource_exhausted, "no memory for a product of ", what.m, "x",
                   what.k, " and ", what.k, "x", what.n);
  return failure(error_kind::internal, "oneDNN's sgemm failed with status ",
                 static_cast<int>(outcome));
}

template <class T>
result<product<T>> check(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                         const T* a, const T* b, T* c) {
  int64_t elements = 0;
  if (m < 0 || n < 0 || k < 0 || __builtin_mul_overflow(m, n, &elements) ||
      __builtin_mul_overflow(m, k, &elements) || __builtin_mul_overflow(k, n, &elements))
    return invalid("cannot multiply ", m, "x", k, " by ", k, "x", n);
  return product<T>{transpose_a,
                    transpose_b,
                    m,
                    n,
                    k,
                    a,
                    std::max<int64_t>(1, transpose_a ? m : k),
                    b,
                    std::max<int64_t>(1, transpose_b ? k : n),
                    c,
                    std::max<int64_t>(1, n)};
}

/// Says whether the result was given without multiplying.
template <class T>
bool trivial(const product<T>& what) {
  if (what.m == 0 || what.n == 0)
    return true;
  if (what.k == 0)
    std::fill_n(what.c, what.m * what.n, T{0});
  return what.k == 0;
}

} // namespace

template <class T>
status gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const T* a,
            const T* b, T* c) {
  TROUPE_ASSIGN(auto whole, check(transpose_a, transpose_b, m, n, k, a, b, c));
  if (trivial(whole))
    return {};
  return multiply(whole);
}

template <class T>
status gemm(device&, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
            const T* a, const T* b, T* c) {
  return gemm(transpose_a, transpose_b, m, n, k, a, b, c);
}

template status gemm(bool, bool, int64_t, int64_t, int64_t, const float*, const float*, float*);
template status gemm(bool, bool, int64_t, int64_t, int64_t, const double*, const double*, double*);
template status gemm(device&, bool, bool, int64_t, int64_t, int64_t, const float*, const float*,
                     float*);
template status gemm(device&, bool, bool, int64_t, int64_t, int64_t, const double*, const double*,
                     double*);

} // namespace troupe
