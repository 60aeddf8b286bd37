// Lets kernels compute halves as floats, converting whole tensors.
#pragma once
#include "troupe/ops/kernel/element_types.hpp"

#include <algorithm>

namespace troupe::ops {

/// The operands of a kernel in the computation type. For halves they are copies; `finish` copies
/// the results to the outputs.
template <class T>
class staged_operands {
public:
  using number = compute_type<T>;

  explicit staged_operands(kernel_context& at) : at_(at) {}

  result<const number*> read(int i) {
    const auto& from = at_.input(i);
    if constexpr (is_half<T>) {
      TROUPE_ASSIGN(auto copy, buffer(from.dims()));
      convert(from.data<T>(), copy, from.elements());
      return static_cast<const number*>(copy);
    } else {
      return static_cast<const number*>(from.data<T>());
    }
  }

  /// Allocates output i, uninitialized.
  result<number*> write(int i, const shape& dims) {
    TROUPE_ASSIGN(auto* out, at_.allocate(i, dims));
    if constexpr (is_half<T>) {
      TROUPE_ASSIGN(auto* copy, buffer(dims));
      written_.push_back({copy, out->template data<T>(), dims.elements()});
      return copy;
    } else {
      return out->template data<T>();
    }
  }

  /// Memory for intermediate values, uninitialized.
  result<number*> buffer(const shape& dims) {
    TROUPE_ASSIGN(auto memory, tensor::make(dtype_of<number>, dims, at_.memory()));
    kept_.push_back(std::move(memory));
    return kept_.back().template data<number>();
  }

  void finish() {
    for (const auto& [from, to, count] : written_)
      convert(from, to, count);
  }

private:
  template <class From, class To>
  void convert(const From* from, To* to, int64_t count) {
    at_.parallel_for(count, 0.5, [&](int64_t begin, int64_t end) {
      std::transform(from + begin, from + end, to + begin,
                     [](From x) { return static_cast<To>(x); });
    });
  }

  struct written {
    const number* from;
    T* to;
    int64_t count;
  };

  kernel_context& at_;
  std::vector<tensor> kept_;
  std::vector<written> written_;
};

} // namespace troupe::ops
