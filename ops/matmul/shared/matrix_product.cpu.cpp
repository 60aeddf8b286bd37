#include "troupe/ops/matmul/shared/matrix_product.hpp"

#include "troupe/devices/cpu/gemm.hpp"
#include "troupe/ops/kernel/element_types.hpp"

#include <cstring>
#include <functional>
#include <mutex>

namespace troupe::ops {
namespace {

// Products smaller than this are not worth several threads each.
constexpr double small_product = 1e6;

double multiplications(const matrix_product& of) {
  return static_cast<double>(of.m) * static_cast<double>(of.n) * static_cast<double>(of.k);
}

template <class T>
status multiply_floats(kernel_context& at, const matrix_product& batch, const T* a, const T* b,
                       T* c) {
  auto of = joined(batch);
  auto size = of.m * of.n;
  status outcome;
  // The work decides, not the number of threads: so the sums are the same for any.
  if (of.batches.elements() == 1 || multiplications(of) >= small_product) {
    of.batches.runs(0, of.batches.elements(),
                    [&](int64_t first, const strided_iterator::offsets& where, int64_t count) {
                      for (int64_t i = 0; i < count && outcome.ok() && !at.stopped(); ++i)
                        outcome = gemm(at.device(), of.a.transpose, of.b.transpose, of.m, of.n,
                                       of.k, a + where[0] + i * of.batches.step(0),
                                       b + where[1] + i * of.batches.step(1),
                                       c + (first + i) * size, at.stop());
                    });
    return outcome;
  }
  std::mutex mutex;
  at.parallel_for(
      of.batches.elements(), 100 + 0.05 * multiplications(of), [&](int64_t begin, int64_t end) {
        of.batches.runs(
            begin, end, [&](int64_t first, const strided_iterator::offsets& where, int64_t count) {
              for (int64_t i = 0; i < count; ++i)
                if (auto done = gemm(of.a.transpose, of.b.transpose, of.m, of.n, of.k,
                                     a + where[0] + i * of.batches.step(0),
                                     b + where[1] + i * of.batches.step(1), c + (first + i) * size);
                    !done) {
                  std::lock_guard guard{mutex};
                  outcome = std::move(done);
                }
            });
      });
  return outcome;
}

template <class From, class To>
void convert(kernel_context& at, std::span<From> from, To* to) {
  at.parallel_for(static_cast<int64_t>(from.size()), 0.5, [&](int64_t begin, int64_t end) {
    std::transform(from.data() + begin, from.data() + end, to + begin,
                   [](From x) { return static_cast<To>(x); });
  });
}

template <class T>
status multiply_halves(kernel_context& at, const matrix_product& of, const tensor& a,
                       const tensor& b, tensor& c) {
  auto as_float = [&](const tensor& from) -> result<tensor> {
    TROUPE_ASSIGN(auto made, tensor::make(dtype::f32, from.dims(), at.memory()));
    convert(at, from.values<T>(), made.template data<float>());
    return made;
  };
  TROUPE_ASSIGN(auto wide_a, as_float(a));
  TROUPE_ASSIGN(auto wide_b, as_float(b));
  TROUPE_ASSIGN(auto wide_c, tensor::make(dtype::f32, c.dims(), at.memory()));
  auto* to = wide_c.template data<float>();
  TROUPE_TRY(multiply_floats<float>(at, of, wide_a.template data<float>(),
                                    wide_b.template data<float>(), to));
  convert(at, wide_c.template values<float>(), c.data<T>());
  return {};
}

template <class T>
T used(const T& x, [[maybe_unused]] matrix_use use) {
  if constexpr (is_complex<T>)
    return use.conjugate ? std::conj(x) : x;
  else
    return x;
}

template <class T>
std::vector<T> transposed(const T* from, int64_t rows, int64_t columns) {
  std::vector<T> to(static_cast<size_t>(rows * columns));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      to[static_cast<size_t>(j * rows + i)] = from[i * columns + j];
  return to;
}

// One row of a product. Walks b and c along their rows, so that the inner loop is over neighbours.
template <class T>
void multiply_row(kernel_context& at, const matrix_product& of, const T* a, const T* b, T* to) {
  auto look_each = std::max<int64_t>(1, 1'000'000 / of.n); // about half a millisecond
  std::fill_n(to, of.n, T{});
  for (int64_t i = 0; i < of.k; ++i) {
    if (i % look_each == look_each - 1 && at.stopped())
      return;
    auto factor = used(a[of.a.transpose ? i * of.m : i], of.a);
    for (int64_t j = 0; j < of.n; ++j)
      to[j] = wrapping(std::plus<>{}, to[j],
                       wrapping(std::multiplies<>{}, factor, used(b[i * of.n + j], of.b)));
  }
}

// Whole and complex numbers.
template <class T>
void multiply_plainly(kernel_context& at, matrix_product of, const T* a, const tensor& from_b,
                      T* c) {
  std::vector<T> turned;
  const T* b = from_b.data<T>();
  if (of.b.transpose) {
    auto size = of.n * of.k;
    for (int64_t i = 0; i < from_b.elements() / size; ++i) {
      auto one = transposed(b + i * size, of.n, of.k);
      turned.insert(turned.end(), one.begin(), one.end());
    }
    b = turned.data();
  }
  auto cost = 10 + 0.5 * static_cast<double>(of.n) * static_cast<double>(of.k);
  at.parallel_for(of.batches.elements() * of.m, cost, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i) {
      auto where = of.batches.at(i / of.m);
      const T* row = a + where[0] + i % of.m * (of.a.transpose ? 1 : of.k);
      multiply_row(at, of, row, b + where[1], c + i * of.n);
    }
  });
}

template <class T>
status multiply_as(kernel_context& at, const matrix_product& of, const tensor& a, const tensor& b,
                   tensor& c) {
  if constexpr (is_half<T>) {
    return multiply_halves<T>(at, of, a, b, c);
  } else if constexpr (is_hot<T>) {
    return multiply_floats<T>(at, of, a.data<T>(), b.data<T>(), c.data<T>());
  } else {
    multiply_plainly<T>(at, of, a.data<T>(), b, c.data<T>());
    return {};
  }
}

template <class... Ts>
status multiply_any(type_list<Ts...>, kernel_context& at, const matrix_product& of, const tensor& a,
                    const tensor& b, tensor& c) {
  status outcome;
  auto known =
      ((c.type() == dtype_of<Ts> && (outcome = multiply_as<Ts>(at, of, a, b, c), true)) || ...);
  return known ? outcome : invalid("takes numbers, got ", c.type());
}

} // namespace

status multiply(kernel_context& at, const matrix_product& what, const tensor& a, const tensor& b,
                tensor& c) {
  if (c.elements() == 0)
    return {};
  if (what.k == 0) {
    std::memset(c.raw(), 0, static_cast<size_t>(c.elements()) * size_of(c.type()));
    return {};
  }
  return multiply_any(types::numbers, at, what, a, b, c);
}

} // namespace troupe::ops
