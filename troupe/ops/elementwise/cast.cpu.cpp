#include "troupe/ops/elementwise/shared/conversion.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <limits>

namespace troupe::ops::cast_cpu {
namespace {

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

template <class From, class To>
void convert_loop(const void* const* inputs, const int64_t*, void* output, int64_t count) {
  convert<From, To>(inputs[0], output, 0, count);
}

template <class From, class... Ts>
inner_loop_fn loop_to(dtype to, type_list<Ts...>) {
  inner_loop_fn found = nullptr;
  ((dtype_of<Ts> == to ? void(found = convert_loop<From, Ts>) : void()), ...);
  return found;
}

template <class... Ts>
inner_loop_fn find_loop(dtype from, dtype to, type_list<Ts...> all) {
  inner_loop_fn found = nullptr;
  ((dtype_of<Ts> == from ? void(found = loop_to<Ts>(to, all)) : void()), ...);
  return found;
}

inner_loop_fn inner_loop_of(const node& of) {
  return find_loop(of.inputs()[0].type(), of.output_type(0), castable);
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
    .find_inner_loop = inner_loop_of,
};

} // namespace troupe::ops::cast_cpu
