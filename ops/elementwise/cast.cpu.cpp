#include "troupe/ops/elementwise/shared/conversion.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <limits>

namespace troupe::ops::cast_cpu {
namespace {

constexpr auto castable = types::numbers + types::boolean;

template <class From, class To>
void convert(const void* const* inputs, const int64_t*, void* output, int64_t count) {
  const auto* x = static_cast<const From*>(inputs[0]);
  auto* y = static_cast<To*>(output);
  for (int64_t i = 0; i < count; ++i)
    y[i] = converted<To>(x[i]);
}

// Types with more bits than the other are truncated instead of rounded.
template <class From, class To>
void cut_off(const void* const* inputs, const int64_t*, void* output, int64_t count) {
  constexpr auto bits = lost_bits(dtype_of<From>, dtype_of<To>);
  const auto* x = static_cast<const From*>(inputs[0]);
  auto* y = static_cast<To*>(output);
  for (int64_t i = 0; i < count; ++i)
    y[i] = converted<To>(without_low_bits(x[i], bits));
}

template <class From>
inner_loop_fn cutter_to(dtype to) {
  if constexpr (std::is_floating_point_v<From>) {
    if (lost_bits(dtype_of<From>, to) == 0)
      return nullptr;
    return to == dtype::bf16  ? cut_off<From, bfloat16>
           : to == dtype::f16 ? cut_off<From, float16>
                              : cut_off<From, float>;
  }
  return nullptr;
}

template <class From, class... Ts>
inner_loop_fn converter_to(dtype to, type_list<Ts...>) {
  inner_loop_fn loop = nullptr;
  ((dtype_of<Ts> == to ? void(loop = convert<From, Ts>) : void()), ...);
  return loop;
}

template <class... Ts>
inner_loop_fn converter(dtype from, dtype to, type_list<Ts...> targets) {
  inner_loop_fn loop = nullptr;
  ((dtype_of<Ts> == from ? void(loop = converter_to<Ts>(to, targets)) : void()), ...);
  return loop;
}

inner_loop_fn inner_loop_of(const node& from_node) {
  auto from = from_node.inputs()[0].type(), to = from_node.output_type(0);
  if (from_node.attr<bool>("Truncate"))
    if (auto cuts = from == dtype::f64   ? cutter_to<double>(to)
                    : from == dtype::f32 ? cutter_to<float>(to)
                                         : nullptr)
      return cuts;
  return converter(from, to, castable);
}

template <class From>
status cast(kernel_context& at) {
  const auto& x = at.input(0);
  if (dtype_of<From> == at.output_type(0)) {
    at.set_output(0, x);
    return {};
  }
  TROUPE_ASSIGN(auto* out, at.allocate(0, x.dims()));
  auto run = at.state<bool>() ? cutter_to<From>(at.output_type(0)) : nullptr;
  if (!run)
    run = converter_to<From>(at.output_type(0), castable);
  at.parallel_for(out->elements(), 0.5, [&](int64_t begin, int64_t end) {
    const void* from = static_cast<const From*>(x.raw()) + begin;
    auto* to = static_cast<char*>(out->raw()) + static_cast<size_t>(begin) * size_of(out->type());
    run(&from, nullptr, to, end - begin);
  });
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, cast<Ts>}...};
}

} // namespace

extern constexpr kernel_def cast_cpu{
    .op = "Cast",
    .run = kernels(castable),
    .key = "SrcT",
    .prepare = cache_attr<bool, "Truncate">,
    .find_inner_loop = inner_loop_of,
};

} // namespace troupe::ops::cast_cpu
