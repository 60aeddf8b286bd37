#include "troupe/ops/image/shared/resize.cpu.hpp"

#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {
namespace {

// to += weight * from
template <class T>
void add_weighted(const void* from, int64_t first, int64_t count, float weight, float* to) {
  const auto* x = static_cast<const T*>(from) + first;
  for (int64_t i = 0; i < count; ++i)
    to[i] += weight * static_cast<float>(widen(x[i]));
}

using add_fn = void (*)(const void*, int64_t, int64_t, float, float*);

template <class... Ts>
add_fn adder_of(dtype type, type_list<Ts...>) {
  add_fn loop = nullptr;
  ((dtype_of<Ts> == type ? void(loop = add_weighted<Ts>) : void()), ...);
  return loop;
}

// Converts the sums to their type.
template <class T>
void store_sums(const double* from, int64_t count, void* to, int64_t first) {
  auto* y = static_cast<T*>(to) + first;
  for (int64_t i = 0; i < count; ++i)
    y[i] = static_cast<T>(static_cast<compute_type<T>>(from[i]));
}

using store_fn = void (*)(const double*, int64_t, void*, int64_t);

template <class... Ts>
store_fn storer_of(dtype type, type_list<Ts...>) {
  store_fn loop = nullptr;
  ((dtype_of<Ts> == type ? void(loop = store_sums<Ts>) : void()), ...);
  return loop;
}

} // namespace

status resize_images(kernel_context& at, const resize_options& options, make_filter filter) {
  const auto& images = at.input(0);
  const auto& dims = images.dims();
  TROUPE_ASSIGN(auto resized, resized_shape(at));
  TROUPE_ASSIGN(auto* out, at.allocate(0, resized));
  if (resized.elements() == 0)
    return {};
  const std::array size{resized[1], resized[2]};
  auto rows = filter(dims[1], size[0], options), columns = filter(dims[2], size[1], options);
  auto channels = dims[3], pitch = dims[2] * channels;
  auto add = adder_of(images.type(), types::real_numbers);
  auto cost = 2 * static_cast<double>(pitch + size[1] * channels);
  at.parallel_for(dims[0] * size[0], cost, [&](int64_t begin, int64_t end) {
    std::vector<float> line(static_cast<size_t>(pitch)); // the weighted sum of the source's rows
    for (auto i = begin; i < end; ++i) {
      std::ranges::fill(line, 0.0f);
      for (const auto& tap : rows.taps(i % size[0]))
        add(images.raw(), (i / size[0] * dims[1] + tap.index) * pitch, pitch, tap.weight,
            line.data());
      auto* to = out->data<float>() + i * size[1] * channels;
      for (int64_t x = 0; x < size[1]; ++x, to += channels) {
        std::fill_n(to, channels, 0.0f);
        for (const auto& tap : columns.taps(x))
          for (int64_t c = 0; c < channels; ++c)
            to[c] += tap.weight * line[static_cast<size_t>(tap.index * channels + c)];
      }
    }
  });
  return {};
}

status resize_gradient(kernel_context& at, const resize_options& options, make_filter filter) {
  const auto &grads = at.input(0), &original = at.input(1);
  const auto &from = grads.dims(), &dims = original.dims();
  TROUPE_TRY(check_resized(from, dims));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  TROUPE_ASSIGN(auto sums, tensor::make(dtype::f64, dims, at.memory()));
  if (from.elements() == 0)
    return {}; // the images are empty, too
  std::ranges::fill(sums.values<double>(), 0.0);
  auto rows = filter(dims[1], from[1], options), columns = filter(dims[2], from[2], options);
  auto channels = dims[3], pitch = dims[2] * channels, each = dims[1] * pitch;
  auto store = storer_of(out->type(), types::floating);
  const auto* g = grads.data<float>();
  // Rows add to the same pixels; only images are independent of each other.
  at.parallel_for(dims[0], 4.0 * static_cast<double>(from[1] * from[2] * channels),
                  [&](int64_t begin, int64_t end) {
                    std::vector<double> line(static_cast<size_t>(pitch));
                    for (auto b = begin; b < end; ++b) {
                      auto* to = sums.data<double>() + b * each;
                      for (int64_t y = 0; y < from[1] && !at.stopped(); ++y) {
                        std::ranges::fill(line, 0.0);
                        for (int64_t x = 0; x < from[2]; ++x)
                          for (const auto& tap : columns.taps(x))
                            for (int64_t c = 0; c < channels; ++c)
                              line[static_cast<size_t>(tap.index * channels + c)] +=
                                  double{tap.weight} *
                                  double{g[((b * from[1] + y) * from[2] + x) * channels + c]};
                        for (const auto& tap : rows.taps(y))
                          for (int64_t i = 0; i < pitch; ++i)
                            to[tap.index * pitch + i] +=
                                double{tap.weight} * line[static_cast<size_t>(i)];
                      }
                      store(to, each, out->raw(), b * each);
                    }
                  });
  return {};
}

} // namespace troupe::ops
