#include "troupe/ops/kernel/gpu/launch.cuda.hpp"
#include "troupe/ops/kernel/gpu/primitives.cuda.hpp"
#include "troupe/ops/kernel/reducers.hpp"
#include "troupe/ops/kernel/scan_options.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

// Lines of `length` elements that are `inner` apart, divided into chunks.
struct scanned_lines {
  int64_t length, inner;
  bool reverse;
  int64_t chunk, chunks;

  scanned_lines(int64_t length, int64_t inner, bool reverse, int64_t chunk)
      : length(length), inner(inner), reverse(reverse), chunk(chunk),
        chunks((length + chunk - 1) / chunk) {}

  struct run {
    int64_t first, step, count; // positions
  };
  // Adjacent threads handle chunks of adjacent lines.
  TROUPE_DEVICE run of_chunk(int64_t index) const {
    auto row = index / inner, outer = row / chunks;
    auto begin = (row - outer * chunks) * chunk;
    auto count = length - begin < chunk ? length - begin : chunk;
    auto from = outer * length * inner + index - row * inner;
    if (reverse)
      return {from + (length - 1 - begin) * inner, -inner, count};
    return {from + begin * inner, inner, count};
  }
};

template <class Fn, class Total, class Source>
struct sum_chunk_body {
  scanned_lines lines;
  Source source;
  Total* totals;
  TROUPE_DEVICE void operator()(int64_t index) const {
    auto [place, step, count] = lines.of_chunk(index);
    auto total = Fn::template start<Total>();
    for (int64_t i = 0; i < count; ++i, place += step)
      total = Fn::step(total, source(place));
    totals[index] = total;
  }
};

template <class Fn, class Total, class Source, class Sink>
struct scan_chunk_body {
  scanned_lines lines;
  Source source;
  Sink sink;
  const Total* before; // the total before each chunk; null where a chunk is a whole line
  bool exclusive;
  TROUPE_DEVICE void operator()(int64_t index) const {
    auto [place, step, count] = lines.of_chunk(index);
    auto running = before ? before[index] : Fn::template start<Total>();
    for (int64_t i = 0; i < count; ++i, place += step) {
      auto next = Fn::step(running, source(place));
      sink(place, exclusive ? running : next);
      running = next;
    }
  }
};

template <class Total>
struct totals_in_place {
  Total* at;
  TROUPE_DEVICE Total operator()(int64_t place) const { return at[place]; }
  TROUPE_DEVICE void operator()(int64_t place, const Total& total) const { at[place] = total; }
};

// Scans `outer` times `inner` lines: calls sink(place, total) for each place of [0, outer * length
// * inner), accumulating source(place). Both may use the same memory.
template <class Fn, class Total, class Source, class Sink>
status scan_each(kernel_context& at, int64_t outer, int64_t length, int64_t inner,
                 scan_options options, Source source, Sink sink) {
  if (outer * length * inner == 0)
    return {};
  // One thread per line if that keeps the GPU busy and adjacent threads read adjacent elements;
  // otherwise one thread per chunk.
  constexpr int64_t busy = 1 << 16, least = 16;
  auto chunk = length;
  if (inner == 1 && length > 2 * least)
    chunk = least;
  else if (inner > 1 && outer * inner < busy / 4 && length > 4 * least)
    chunk = std::max(least, length * outer * inner / busy);
  scanned_lines lines{length, inner, options.reverse, chunk};
  auto chunk_count = outer * lines.chunks * inner;
  if (lines.chunks == 1)
    return for_each(
        at, chunk_count,
        scan_chunk_body<Fn, Total, Source, Sink>{lines, source, sink, nullptr, options.exclusive});
  TROUPE_ASSIGN(auto chunk_totals,
                tensor::make(dtype::u8, shape{chunk_count * int64_t{sizeof(Total)}}, at.memory()));
  auto* totals = static_cast<Total*>(chunk_totals.raw());
  TROUPE_TRY(for_each(at, chunk_count, sum_chunk_body<Fn, Total, Source>{lines, source, totals}));
  totals_in_place<Total> in_place{totals};
  TROUPE_TRY(
      (scan_each<Fn, Total>(at, outer, lines.chunks, inner, {true, false}, in_place, in_place)));
  return for_each(
      at, chunk_count,
      scan_chunk_body<Fn, Total, Source, Sink>{lines, source, sink, totals, options.exclusive});
}

template <class T, class Total>
struct scan_elements {
  const T* x;
  T* y;
  TROUPE_DEVICE Total operator()(int64_t place) const { return static_cast<Total>(load(x[place])); }
  TROUPE_DEVICE void operator()(int64_t place, const Total& total) const {
    y[place] = store<T>(static_cast<compute_type<T>>(total));
  }
};

// Accumulates input 0 along the axis in input 1; the state is scan_options.
template <class T, class Fn>
status scan(kernel_context& at) {
  const auto& x = at.input(0);
  const auto& dims = x.dims();
  TROUPE_ASSIGN(auto axis, scanned_axis(at));
  TROUPE_ASSIGN(auto* out, at.forward_or_allocate(0, {0}, dims));
  auto options = at.state<scan_options>();
  auto outer = troupe::ops::product(dims, 0, axis), length = dims[axis];
  auto inner = troupe::ops::product(dims, axis + 1, dims.rank());
  if constexpr (std::is_integral_v<T>)
    if (inner == 1)
      return scan_rows<Fn>(at, x.data<T>(), out->template data<T>(), outer, length, options);
  using total = troupe::ops::detail::total_t<T>;
  scan_elements<T, total> elements{x.data<T>(), out->template data<T>()};
  return scan_each<Fn, total>(at, outer, length, inner, options, elements, elements);
}

template <class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> scan_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, scan<Ts, Fn>}...};
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu

namespace troupe::ops::cumulative_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(cumsum){
    .op = "Cumsum",
    .device = device_kind::gpu,
    .run = gpu::scan_kernels<addition>(types::floating + type_list<int32_t, int64_t>{}),
    .prepare = prepare_scan,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(cumprod){
    .op = "Cumprod",
    .device = device_kind::gpu,
    .run = gpu::scan_kernels<multiplication>(types::floating + type_list<int32_t, int64_t>{}),
    .prepare = prepare_scan,
};

} // namespace troupe::ops::cumulative_gpu
