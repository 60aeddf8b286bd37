#include "troupe/ops/matmul/shared/matrix_product.hpp"

#include "troupe/devices/cpu/gemm.hpp"
#include "troupe/ops/kernel/element_types.hpp"

#include <cstring>
#include <functional>
#include <mutex>

namespace troupe::ops {
namespace {

// Smaller products are not divided among threads.
constexpr double small_product = 1e6;

double multiplications(const matrix_product& product) {
  return static_cast<double>(product.m) * static_cast<double>(product.n) *
         static_cast<double>(product.k);
}

template <class T>
status multiply_floats(kernel_context& at, const matrix_product& batch, const T* a, const T* b,
                       T* c) {
  auto product = joined(batch);
  auto size = product.m * product.n;
  status outcome;
  // The amount of work decides, not the number of threads, so that sums do not depend on the
  // latter.
  if (product.batches.elements() == 1 || multiplications(product) >= small_product) {
    product.batches.runs(0, product.batches.elements(),
                         [&](int64_t first, const strided_iterator::offsets& where, int64_t count) {
                           for (int64_t i = 0; i < count && outcome.ok() && !at.stopped(); ++i)
                             outcome = gemm(at.device(), product.a.transpose, product.b.transpose,
                                            product.m, product.n, product.k,
                                            a + where[0] + i * product.batches.step(0),
                                            b + where[1] + i * product.batches.step(1),
                                            c + (first + i) * size, at.stop());
                         });
    return outcome;
  }
  std::mutex mutex;
  at.parallel_for(
      product.batches.elements(), 100 + 0.05 * multiplications(product),
      [&](int64_t begin, int64_t end) {
        product.batches.runs(
            begin, end, [&](int64_t first, const strided_iterator::offsets& where, int64_t count) {
              for (int64_t i = 0; i < count; ++i)
                if (auto done =
                        gemm(product.a.transpose, product.b.transpose, product.m, product.n,
                             product.k, a + where[0] + i * product.batches.step(0),
                             b + where[1] + i * product.batches.step(1), c + (first + i) * size);
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
status multiply_halves(kernel_context& at, const matrix_product& product, const tensor& a,
                       const tensor& b, tensor& c) {
  auto as_float = [&](const tensor& from) -> result<tensor> {
    TROUPE_ASSIGN(auto floats, tensor::make(dtype::f32, from.dims(), at.memory()));
    convert(at, from.values<T>(), floats.template data<float>());
    return floats;
  };
  TROUPE_ASSIGN(auto wide_a, as_float(a));
  TROUPE_ASSIGN(auto wide_b, as_float(b));
  TROUPE_ASSIGN(auto wide_c, tensor::make(dtype::f32, c.dims(), at.memory()));
  auto* to = wide_c.template data<float>();
  TROUPE_TRY(multiply_floats<float>(at, product, wide_a.template data<float>(),
                                    wide_b.template data<float>(), to));
  convert(at, wide_c.template values<float>(), c.data<T>());
  return {};
}

template <class T>
T operand_value(const T& x, [[maybe_unused]] matrix_use use) {
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

// Computes one row of a product. It reads b and writes c along their rows, so that the inner loop
// is over contiguous elements.
template <class T>
void multiply_row(kernel_context& at, const matrix_product& product, const T* a, const T* b,
                  T* to) {
  auto stop_check_interval =
      std::max<int64_t>(1, 1'000'000 / product.n); // about half a millisecond
  std::fill_n(to, product.n, T{});
  for (int64_t i = 0; i < product.k; ++i) {
    if (i % stop_check_interval == stop_check_interval - 1 && at.stopped())
      return;
    auto factor = operand_value(a[product.a.transpose ? i * product.m : i], product.a);
    for (int64_t j = 0; j < product.n; ++j)
      to[j] = wrapping(
          std::plus<>{}, to[j],
          wrapping(std::multiplies<>{}, factor, operand_value(b[i * product.n + j], product.b)));
  }
}

// Integers and complex numbers.
template <class T>
void multiply_plainly(kernel_context& at, matrix_product product, const T* a, const tensor& from_b,
                      T* c) {
  std::vector<T> turned;
  const T* b = from_b.data<T>();
  if (product.b.transpose) {
    auto size = product.n * product.k;
    for (int64_t i = 0; i < from_b.elements() / size; ++i) {
      auto transposed_b = transposed(b + i * size, product.n, product.k);
      turned.insert(turned.end(), transposed_b.begin(), transposed_b.end());
    }
    b = turned.data();
  }
  auto cost = 10 + 0.5 * static_cast<double>(product.n) * static_cast<double>(product.k);
  at.parallel_for(product.batches.elements() * product.m, cost, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i) {
      auto where = product.batches.at(i / product.m);
      const T* row = a + where[0] + i % product.m * (product.a.transpose ? 1 : product.k);
      multiply_row(at, product, row, b + where[1], c + i * product.n);
    }
  });
}

template <class T>
status multiply_as(kernel_context& at, const matrix_product& product, const tensor& a,
                   const tensor& b, tensor& c) {
  if constexpr (is_half<T>) {
    return multiply_halves<T>(at, product, a, b, c);
  } else if constexpr (is_hot<T>) {
    return multiply_floats<T>(at, product, a.data<T>(), b.data<T>(), c.data<T>());
  } else {
    multiply_plainly<T>(at, product, a.data<T>(), b, c.data<T>());
    return {};
  }
}

template <class... Ts>
status multiply_any(type_list<Ts...>, kernel_context& at, const matrix_product& product,
                    const tensor& a, const tensor& b, tensor& c) {
  status outcome;
  auto is_known_type =
      ((c.type() == dtype_of<Ts> && (outcome = multiply_as<Ts>(at, product, a, b, c), true)) ||
       ...);
  return is_known_type ? outcome : invalid("takes numbers, got ", c.type());
}

} // namespace

status multiply(kernel_context& at, const matrix_product& product, const tensor& a, const tensor& b,
                tensor& c) {
  if (c.elements() == 0)
    return {};
  if (product.k == 0) {
    std::memset(c.raw(), 0, static_cast<size_t>(c.elements()) * size_of(c.type()));
    return {};
  }
  return multiply_any(types::numbers, at, product, a, b, c);
}

} // namespace troupe::ops
