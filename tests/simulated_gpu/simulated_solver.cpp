// The functions of libraries on real GPUs, computed by Eigen: this tests the code around their
// calls.
#include "tests/simulated_gpu/simulated_driver.hpp"
#include "troupe/devices/gpu/core/solver.hpp"

#include <cmath>

#include <Eigen/Dense>

namespace troupe::test {
namespace {

using gpu::matrix_stack;
using gpu::singular_vectors;

template <class T>
using dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T>
using columns_of = Eigen::Map<dense<T>>;
template <class T>
columns_of<T> block(const void* memory, int64_t i, int64_t rows, int64_t columns) {
  return {static_cast<T*>(const_cast<void*>(memory)) + i * rows * columns, rows, columns};
}
template <class T>
columns_of<T> matrix(const matrix_stack& stack, int64_t i) {
  if (stack.addresses)
    return {static_cast<T*>(stack.addresses[i]), stack.rows, stack.columns};
  return block<T>(stack.data, i, stack.rows, stack.columns);
}

status launch(gpu::gpu_device& on, std::function<void()> body) {
  return static_cast<gpu::simulated_driver&>(on.driver())
      .launch(
          [body = std::move(body)]() -> status {
            body();
            return {};
          },
          on.compute());
}

// body(T{}, i) for each of `count` matrices.
template <class Body>
status launch_each(const gpu::solver::call& at, int64_t count, Body body) {
  return launch(at.on, [=, type = at.type] {
    for (int64_t i = 0; i < count; ++i)
      if (type == dtype::f64)
        body(double{}, i);
      else
        body(float{}, i);
  });
}

class eigen_solver : public gpu::solver {
public:
  status potrf(const call& at, const matrix_stack& a, int* info) override {
    return launch_each(at, a.count, [=](auto zero_value, int64_t i) {
      using T = decltype(zero_value);
      auto factor = matrix<T>(a, i);
      dense<T> full = factor.template selfadjointView<Eigen::Upper>();
      Eigen::LLT<dense<T>, Eigen::Upper> decomposition{full};
      info[i] = decomposition.info() == Eigen::Success ? 0 : 1;
      factor.setConstant(T(-77)); // the lower triangle may have any content
      if (info[i] == 0)
        factor.template triangularView<Eigen::Upper>() = dense<T>{decomposition.matrixU()};
    });
  }

  status getrf(const call& at, const matrix_stack& a, int* pivots, int* info) override {
    return launch_each(at, a.count, [=](auto zero_value, int64_t k) {
      using T = decltype(zero_value);
      auto factor = matrix<T>(a, k);
      info[k] = 0;
      for (int64_t i = 0; i < a.rows; ++i) {
        Eigen::Index best = 0;
        factor.col(i).tail(a.rows - i).cwiseAbs().maxCoeff(&best);
        pivots[k * a.rows + i] = static_cast<int>(i + best + 1);
        if (best > 0)
          factor.row(i).swap(factor.row(i + best));
        if (!(std::abs(factor(i, i)) > 0)) {
          info[k] = static_cast<int>(i + 1);
          continue;
        }
        auto remaining = a.rows - i - 1;
        factor.col(i).tail(remaining) /= factor(i, i);
        factor.bottomRightCorner(remaining, remaining) -=
            dense<T>{factor.col(i).tail(remaining) * factor.row(i).tail(remaining)};
      }
    });
  }

  status getrs(const call& at, bool transpose, const matrix_stack& lu, const int* pivots,
               const matrix_stack& b, int* info) override {
    return launch_each(at, lu.count, [=](auto zero_value, int64_t k) {
      using T = decltype(zero_value);
      auto factors = matrix<T>(lu, k);
      auto x = matrix<T>(b, k);
      const auto* swaps = pivots + k * lu.rows;
      if (!transpose) {
        for (int64_t i = 0; i < lu.rows; ++i)
          if (swaps[i] - 1 != i)
            x.row(i).swap(x.row(swaps[i] - 1));
        factors.template triangularView<Eigen::UnitLower>().solveInPlace(x);
        factors.template triangularView<Eigen::Upper>().solveInPlace(x);
      } else {
        factors.transpose().template triangularView<Eigen::Lower>().solveInPlace(x);
        factors.transpose().template triangularView<Eigen::UnitUpper>().solveInPlace(x);
        for (auto i = lu.rows - 1; i >= 0; --i)
          if (swaps[i] - 1 != i)
            x.row(i).swap(x.row(swaps[i] - 1));
      }
      info[k] = 0;
    });
  }

  status trsm(const call& at, bool upper, bool transpose, const matrix_stack& a,
              const matrix_stack& b) override {
    return launch_each(at, a.count, [=](auto zero_value, int64_t i) {
      using T = decltype(zero_value);
      dense<T> coefficients = matrix<T>(a, i);
      // x a = b is a' x' = b'.
      dense<T> x = matrix<T>(b, i).transpose();
      if (!transpose)
        coefficients.transposeInPlace();
      if (upper == transpose)
        coefficients.template triangularView<Eigen::Upper>().solveInPlace(x);
      else
        coefficients.template triangularView<Eigen::Lower>().solveInPlace(x);
      matrix<T>(b, i) = x.transpose();
    });
  }

  status geqrf(const call& at, const matrix_stack& a, void* tau, int* info) override {
    return launch_each(at, a.count, [=](auto zero_value, int64_t i) {
      using T = decltype(zero_value);
      Eigen::HouseholderQR<dense<T>> decomposition{matrix<T>(a, i)};
      matrix<T>(a, i) = decomposition.matrixQR();
      block<T>(tau, i, std::min(a.rows, a.columns), 1) = decomposition.hCoeffs();
      info[i] = 0;
    });
  }

  status orgqr(const call& at, const matrix_stack& q, int64_t reflectors, const void* tau,
               int* info) override {
    return launch_each(at, q.count, [=](auto zero_value, int64_t i) {
      using T = decltype(zero_value);
      dense<T> vectors = matrix<T>(q, i).leftCols(reflectors);
      Eigen::Matrix<T, Eigen::Dynamic, 1> factors = block<T>(tau, i, reflectors, 1);
      dense<T> identity = dense<T>::Identity(q.rows, q.columns);
      identity.applyOnTheLeft(Eigen::householderSequence(vectors, factors));
      matrix<T>(q, i) = identity;
      info[i] = 0;
    });
  }

  status gesvd(const call& at, singular_vectors vectors_wanted, const matrix_stack& a, void* s,
               void* u, void* vt, int* info) override {
    auto options =
        vectors_wanted == singular_vectors::all    ? Eigen::ComputeFullU | Eigen::ComputeFullV
        : vectors_wanted == singular_vectors::thin ? Eigen::ComputeThinU | Eigen::ComputeThinV
                                                   : 0;
    return launch_each(at, a.count, [=](auto zero_value, int64_t i) {
      using T = decltype(zero_value);
      auto decomposition = decomposed(matrix<T>(a, i), options);
      block<T>(s, i, a.columns, 1) = decomposition.singularValues().template cast<T>();
      if (vectors_wanted != singular_vectors::none) {
        auto columns = vectors_wanted == singular_vectors::all ? a.rows : a.columns;
        block<T>(u, i, a.rows, columns) = decomposition.matrixU().template cast<T>();
        block<T>(vt, i, a.columns, a.columns) =
            decomposition.matrixV().transpose().template cast<T>();
      }
      info[i] = 0;
    });
  }

  status gesvdj(const call& at, bool vectors, const matrix_stack& a, void* s, void* u, void* v,
                int* info) override {
    auto options = vectors ? Eigen::ComputeFullU | Eigen::ComputeFullV : 0;
    return launch_each(at, a.count, [=](auto zero_value, int64_t i) {
      using T = decltype(zero_value);
      auto decomposition = decomposed(matrix<T>(a, i), options);
      block<T>(s, i, a.columns, 1) = decomposition.singularValues().template cast<T>();
      if (vectors) {
        block<T>(u, i, a.rows, a.rows) = decomposition.matrixU().template cast<T>();
        block<T>(v, i, a.columns, a.columns) = decomposition.matrixV().template cast<T>();
      }
      info[i] = 0;
    });
  }

  status syevd(const call& at, bool vectors, const matrix_stack& a, void* values,
               int* info) override {
    return launch_each(at, a.count, [=](auto zero_value, int64_t i) {
      using T = decltype(zero_value);
      dense<double> lower = matrix<T>(a, i)
                                .template cast<double>()
                                .transpose()
                                .template triangularView<Eigen::Lower>();
      Eigen::SelfAdjointEigenSolver<dense<double>> decomposition{lower};
      block<T>(values, i, a.rows, 1) = decomposition.eigenvalues().template cast<T>();
      matrix<T>(a, i).setConstant(T(-77)); // without vectors, the content has no meaning
      if (vectors)
        matrix<T>(a, i) = decomposition.eigenvectors().template cast<T>();
      info[i] = decomposition.info() == Eigen::Success ? 0 : 1;
    });
  }

private:
  // In double, so that vectors of equal values are those of the processor.
  using svd = Eigen::JacobiSVD<dense<double>, Eigen::HouseholderQRPreconditioner>;
  template <class From>
  static svd decomposed(const From& matrix_value, int options) {
    return svd{matrix_value.template cast<double>(), static_cast<unsigned>(options)};
  }
};

} // namespace

gpu::solver& simulated_solver() {
  static eigen_solver only;
  return only;
}

} // namespace troupe::test
