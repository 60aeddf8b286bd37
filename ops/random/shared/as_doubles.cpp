#include "troupe/ops/random/shared/as_doubles.hpp"

#include <algorithm>

namespace troupe::ops {
namespace {

template <class... Ts>
void convert(const tensor& from, double* to) {
  auto from_type = [&]<class T>(T) {
    if (from.type() != dtype_of<T>)
      return;
    std::ranges::transform(from.values<T>(), to, [](T x) {
      if constexpr (std::is_arithmetic_v<T>)
        return static_cast<double>(x);
      else
        return static_cast<double>(static_cast<float>(x));
    });
  };
  (from_type(Ts{}), ...);
}

} // namespace

result<tensor> as_doubles(const tensor& from, allocator& memory) {
  if (!real_numbers.contains(from.type()))
    return failure(error_kind::internal, from.type(), " is no type of real numbers");
  TROUPE_ASSIGN(auto to, tensor::make(dtype::f64, from.dims(), memory));
  convert<float16, bfloat16, float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
          uint32_t, uint64_t>(from, to.template data<double>());
  return to;
}

} // namespace troupe::ops
