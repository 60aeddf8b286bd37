#include "troupe/ops/kernel/element_types.hpp"

namespace troupe::ops::where_cpu {
namespace {

constexpr int64_t chunk = 16'384;

// Each chunk is counted first, so that all know where their coordinates go.
template <class T>
status run(kernel_context& at) {
  const auto& x = at.input(0);
  const auto& dims = x.dims();
  const T* from = x.data<T>();
  auto elements = x.elements();
  std::vector<int64_t> starts(static_cast<size_t>((elements + chunk - 1) / chunk) + 1);
  auto chunks = static_cast<int64_t>(starts.size()) - 1;
  at.parallel_for(chunks, 0.5 * chunk, [&](int64_t begin, int64_t end) {
    for (auto c = begin; c < end; ++c) {
      int64_t found = 0;
      for (auto i = c * chunk; i < std::min((c + 1) * chunk, elements); ++i)
        found += from[i] != T{};
      starts[static_cast<size_t>(c) + 1] = found;
    }
  });
  if (at.stopped())
    return {};
  for (size_t c = 1; c < starts.size(); ++c)
    starts[c] += starts[c - 1];
  TROUPE_ASSIGN(auto* out, at.allocate(0, {starts.back(), dims.rank()}));
  auto* to = out->template data<int64_t>();
  at.parallel_for(chunks, 2.0 * chunk, [&](int64_t begin, int64_t end) {
    for (auto c = begin; c < end; ++c) {
      auto* row = to + starts[static_cast<size_t>(c)] * dims.rank();
      for (auto i = c * chunk; i < std::min((c + 1) * chunk, elements); ++i) {
        if (from[i] == T{})
          continue;
        auto rest = i;
        for (int axis = dims.rank() - 1; axis >= 0; --axis) {
          row[axis] = rest % dims[axis];
          rest /= dims[axis];
        }
        row += dims.rank();
      }
    }
  });
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run<Ts>}...};
}

} // namespace

extern constexpr kernel_def where_cpu{
    .op = "Where",
    .run = kernels(types::numbers + types::boolean),
};

} // namespace troupe::ops::where_cpu
