#include "troupe/ops/attr_state.hpp"
#include "troupe/ops/element_types.hpp"

#include <limits>

namespace troupe::ops {
namespace {

// Beyond the range the language defines nothing: saturate, as most processors do.
template <class To, class From>
To saturated(From x) {
  using limits = std::numeric_limits<To>;
  // 2^digits is exact in every float type, the greatest number itself may not be.
  constexpr auto beyond = static_cast<From>(uint64_t{1} << (limits::digits - 1)) * 2;
  if (x >= beyond)
    return limits::max();
  if (x >= static_cast<From>(limits::min()))
    return static_cast<To>(x);
  return x < 0 ? limits::min() : To{0}; // 0 for NaN
}

template <class To, class From>
To converted(const From& x) {
  if constexpr (std::is_same_v<To, From>)
    return x;
  else if constexpr (is_half<From>)
    return converted<To>(static_cast<float>(x));
  else if constexpr (is_half<To>)
    return To{converted<float>(x)};
  else if constexpr (std::is_same_v<To, bool>)
    return x != From{};
  else if constexpr (is_complex<To> && is_complex<From>)
    return To(static_cast<typename To::value_type>(x.real()),
              static_cast<typename To::value_type>(x.imag()));
  else if constexpr (is_complex<From>)
    return converted<To>(x.real());
  else if constexpr (is_complex<To>)
    return To(converted<typename To::value_type>(x));
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
    return saturated<To>(x);
  else
    return static_cast<To>(x);
}

template <class From, class To>
void convert(const void* from, void* to, int64_t begin, int64_t end) {
  const auto* x = static_cast<const From*>(from);
  auto* y = static_cast<To*>(to);
  for (auto i = begin; i < end; ++i)
    y[i] = converted<To>(x[i]);
}

using convert_fn = void (*)(const void*, void*, int64_t, int64_t);
constexpr auto castable = types::numbers + types::boolean;

template <class From, class... Ts>
convert_fn converter_to(dtype to, type_list<Ts...>) {
  convert_fn found = nullptr;
  ((dtype_of<Ts> == to ? void(found = convert<From, Ts>) : void()), ...);
  return found;
}

template <class From>
status cast(kernel_context& at) {
  const auto& x = at.input(0);
  auto run = converter_to<From>(at.output_type(0), castable);
  if (dtype_of<From> == at.output_type(0)) {
    at.set_output(0, x);
    return {};
  }
  TROUPE_ASSIGN(auto* out, at.allocate(0, x.dims()));
  at.parallel_for(out->elements(), 0.5,
                  [&](int64_t begin, int64_t end) { run(x.raw(), out->raw(), begin, end); });
  return {};
}

template <class... Ts>
constexpr upto<typed_kernel, 18> kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, cast<Ts>}...};
}

} // namespace

extern constexpr kernel_def cast_cpu{
    .op = "Cast",
    .run = kernels(castable),
    .key = "SrcT",
};

} // namespace troupe::ops
