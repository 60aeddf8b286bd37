#include "troupe/ops/kernel/gpu/primitives.cuda.hpp"
#include "troupe/ops/kernel/gpu/workspace.cuda.hpp"

#ifdef __CUDACC__
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#endif

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {
namespace reducing {

template <class Fn, class T>
struct summand {
  using total = troupe::ops::detail::total_t<T>;
  TROUPE_DEVICE total operator()(const T& x) const {
    auto value = static_cast<total>(load(x));
    if constexpr (requires { Fn::map(value); })
      return Fn::map(value);
    else
      return value;
  }
};

template <class Fn, class T>
struct finished {
  using total = troupe::ops::detail::total_t<T>;
  int64_t items;
  TROUPE_DEVICE T operator()(const total& row_total) const {
    return store<T>(static_cast<compute_type<T>>(Fn::finish(row_total, items)));
  }
};

#ifdef __CUDACC__
template <class Fn, class Total>
struct reduce_step {
  TROUPE_DEVICE Total operator()(const Total& a, const Total& b) const { return Fn::step(a, b); }
};

/// The output iterator of CUB; it converts totals to elements.
template <class Fn, class T>
class rows_of_totals {
public:
  using total = typename finished<Fn, T>::total;
  struct place {
    T* to;
    finished<Fn, T> finish;
    TROUPE_DEVICE void operator=(const total& row_total) const { *to = finish(row_total); }
  };
  using iterator_category = std::random_access_iterator_tag;
  using difference_type = int64_t;
  using value_type = void; // CUB then accumulates in the input's type
  using pointer = void;
  using reference = place;

  rows_of_totals(T* to, finished<Fn, T> finish) : at_{to, finish} {}
  TROUPE_DEVICE place operator*() const { return at_; }
  TROUPE_DEVICE place operator[](int64_t row) const { return {at_.to + row, at_.finish}; }
  TROUPE_DEVICE rows_of_totals operator+(int64_t rows) const {
    auto moved = *this;
    moved += rows;
    return moved;
  }
  TROUPE_DEVICE rows_of_totals& operator+=(int64_t rows) {
    at_.to += rows;
    return *this;
  }

private:
  place at_;
};

struct begin_of_row {
  int64_t columns;
  TROUPE_DEVICE int64_t operator()(int64_t row) const { return row * columns; }
};
#endif

} // namespace reducing

template <class Fn, class T>
status reduce_rows(kernel_context& at, const T* from, T* to, int64_t rows, int64_t columns) {
  using namespace reducing;
  using total = typename summand<Fn, T>::total;
  auto start = Fn::template start<total>();
  summand<Fn, T> value;
  finished<Fn, T> finish{columns};
#ifdef __CUDACC__
  rows_of_totals<Fn, T> out{to, finish};
  reduce_step<Fn, total> step;
  return with_workspace(at, [&](void* memory, size_t& bytes, cudaStream_t stream) {
    if (rows == 1) // the whole GPU reduces one row; otherwise a block of threads reduces each row
      return cub::DeviceReduce::TransformReduce(memory, bytes, from, out, columns, step, value,
                                                start, stream);
    auto begins = each_of(begin_of_row{columns});
    return cub::DeviceSegmentedReduce::Reduce(memory, bytes,
                                              thrust::make_transform_iterator(from, value), out,
                                              rows, begins, begins + 1, step, start, stream);
  });
#else
  return for_each(at, rows, [=](int64_t row) {
    auto running = start;
    for (int64_t i = 0; i < columns; ++i)
      running = Fn::step(running, value(from[row * columns + i]));
    to[row] = finish(running);
  });
#endif
}

#define TROUPE_REDUCE(Fn, T)                                                                       \
  template status reduce_rows<Fn>(kernel_context&, const T*, T*, int64_t, int64_t);
#define TROUPE_REDUCE_FLOATS(Fn)                                                                   \
  TROUPE_REDUCE(Fn, float16)                                                                       \
  TROUPE_REDUCE(Fn, bfloat16)                                                                      \
  TROUPE_REDUCE(Fn, float)                                                                         \
  TROUPE_REDUCE(Fn, double)
#define TROUPE_REDUCE_EACH(Fn)                                                                     \
  TROUPE_REDUCE_FLOATS(Fn)                                                                         \
  TROUPE_REDUCE(Fn, int32_t)                                                                       \
  TROUPE_REDUCE(Fn, int64_t)
TROUPE_REDUCE_EACH(addition)
TROUPE_REDUCE_EACH(average)
TROUPE_REDUCE_EACH(multiplication)
TROUPE_REDUCE_EACH(largest)
TROUPE_REDUCE_EACH(smallest)
TROUPE_REDUCE_EACH(euclidean_length)
TROUPE_REDUCE_FLOATS(half_of_squares)
TROUPE_REDUCE(conjunction, bool)
TROUPE_REDUCE(disjunction, bool)

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
