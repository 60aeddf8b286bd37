// The kernels of poolings on GPUs. Gradients are gathered: each element of the input reads the
// windows that contain it, so that sums have a fixed order.
#pragma once
#include "troupe/ops/conv/shared/windows.cuda.hpp"
#include "troupe/ops/kernel/gpu/layer.cuda.hpp"
#include "troupe/ops/pool/shared/packed_pooling.cuda.hpp"
#include "troupe/ops/pool/shared/pool_kernels.hpp"
#include "troupe/ops/pool/shared/tie_break_probe.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

inline result<windows> windows_of(const pooling& geometry) {
  return place_windows(geometry.axes, geometry.images, geometry.channels, geometry.channels, false);
}

/// The library does not support padding that differs at the two ends, unless the padding after the
/// input is irrelevant, which the number of windows shows.
inline troupe::gpu::pooling_layer pooling_layer_of(const pooling& geometry, dtype type,
                                                   bool largest, bool backward) {
  troupe::gpu::pooling_layer layer{.largest = largest,
                                   .backward = backward,
                                   .type = type,
                                   .images = geometry.images,
                                   .channels = geometry.channels};
  for (size_t i = 0; i < 3; ++i) {
    const auto& axis = geometry.axes[i];
    layer.axes[i] = {.in = axis.in,
                     .size = axis.size,
                     .stride = axis.stride,
                     .pad = axis.before,
                     .out = axis.out};
  }
  return layer;
}

/// Finds the maximum of a window, the first among equal elements, and a NaN before all others.
template <class T>
struct largest_of_window {
  compute_type<T> value;
  int32_t k = -1; ///< -1: no element
  int64_t offset = 0;

  TROUPE_DEVICE largest_of_window(const windows& on, const T* x, const spot& window)
      : value(padding_maximum<T>()) {
    on.for_each_element(window.at, on.in.plane(window.image, window.channel),
                        [&](int32_t element, int64_t from) {
                          auto candidate = load(x[from]);
                          if (k < 0 || (!(candidate <= value) && value == value)) {
                            value = candidate;
                            k = element;
                            offset = from;
                          }
                        });
  }
};

template <class T>
struct max_pool_body {
  windows on;
  const T* x;
  T* y;
  TROUPE_DEVICE void operator()(int64_t i) const {
    y[i] = store<T>(largest_of_window<T>{on, x, on.out.locate(i)}.value);
  }
};

/// Fails where the library treats ties, infinities or NaNs differently from these kernels. The test
/// uses tensors of the layer's shape, for which the library uses its actual algorithm.
template <class T>
status agree_on_largest(kernel_context& at, const pooling& geometry, const windows& on,
                        layer_library& library, const layer_library::call& call,
                        const troupe::gpu::pooling_layer& layer) {
  TROUPE_ASSIGN(auto x, tensor::make(dtype_of<T>, geometry.input, at.memory()));
  TROUPE_ASSIGN(auto own_result, tensor::make(dtype_of<T>, geometry.output, at.memory()));
  TROUPE_ASSIGN(auto library_result, tensor::make(dtype_of<T>, geometry.output, at.memory()));
  TROUPE_ASSIGN(auto results, comparison::begin(at));
  auto* from = x.template data<T>();
  for (int round = 0; round < ties_body<T>::rounds; ++round) {
    TROUPE_TRY(for_each(at, x.elements(), ties_body<T>{from, round}));
    TROUPE_TRY(for_each(at, own_result.elements(),
                        max_pool_body<T>{on, from, own_result.template data<T>()}));
    TROUPE_TRY(library.pool(call, layer, from, library_result.raw()));
    TROUPE_TRY(results.template add<T>(at, own_result, library_result));
  }
  return results.end(at);
}

template <class T>
status max_pool(kernel_context& at) {
  const auto& input = at.input(0);
  TROUPE_ASSIGN(auto geometry, make_pooling(at, input.dims()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, geometry.output));
  if (out->elements() == 0)
    return {};
  TROUPE_ASSIGN(auto on, windows_of(geometry));
  const max_pool_body<T> body{on, input.data<T>(), out->template data<T>()};
  auto layer = pooling_layer_of(geometry, dtype_of<T>, true, false);
  return compute_layer(
      at, layer,
      [&at, body, count = out->elements()] {
        return can_pack<T>(body.on, {body.x, body.y})
                   ? launch_packed_max_pool(at, body.on, count, body.x, body.y)
                   : for_each(at, count, body);
      },
      [=](layer_library& library, const auto& call) {
        return library.pool(call, layer, body.x, body.y);
      },
      [&at, &geometry, on, layer](layer_library& library, const auto& call) {
        return agree_on_largest<T>(at, geometry, on, library, call, layer);
      });
}

/// Calls `launch(x)` with the elements of a floating-point tensor.
template <class Launch>
status with_floats(const tensor& values, Launch launch) {
  switch (values.type()) {
    case dtype::f16: return launch(static_cast<const float16*>(values.raw()));
    case dtype::bf16: return launch(static_cast<const bfloat16*>(values.raw()));
    case dtype::f32: return launch(static_cast<const float*>(values.raw()));
    case dtype::f64: return launch(static_cast<const double*>(values.raw()));
    default: return invalid("takes floating-point numbers, got ", values.type());
  }
}

template <class T>
struct find_largest_body {
  windows on;
  const T* x;
  int32_t* chosen;
  TROUPE_DEVICE void operator()(int64_t i) const {
    chosen[i] = largest_of_window<T>{on, x, on.out.locate(i)}.k;
  }
};

/// Computes for each window the number of its maximum, or -1.
inline result<tensor> launch_find_largest(kernel_context& at, const windows& on, const shape& dims,
                                          const tensor& input) {
  TROUPE_ASSIGN(auto largest, tensor::make(dtype::i32, dims, at.memory()));
  auto* chosen = largest.template data<int32_t>();
  TROUPE_TRY(with_floats(input, [&]<class T>(const T* x) {
    return for_each(at, largest.elements(), find_largest_body<T>{on, x, chosen});
  }));
  return largest;
}

template <class T>
struct max_pool_gradient_body {
  windows on;
  const int32_t* chosen;
  const T* dy;
  T* dx;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto position = on.in.locate(i);
    compute_type<T> sum{};
    on.for_each_window(position.at, on.out.plane(position.image, position.channel),
                       [&](int32_t k, int64_t window, const int32_t(&)[3]) {
                         if (chosen[window] == k)
                           sum += load(dy[window]);
                       });
    dx[i] = store<T>(sum);
  }
};

template <class T>
status launch_max_pool_gradient(kernel_context& at, const windows& on, const shape& outputs,
                                const tensor& x, const tensor& dy, const tensor& dx) {
  if (can_pack<T>(on, {x.raw(), dy.raw(), dx.raw()}))
    return launch_packed_max_gradient<T>(at, on, x, dy, dx);
  TROUPE_ASSIGN(auto largest, launch_find_largest(at, on, outputs, x));
  return for_each(
      at, dx.elements(),
      max_pool_gradient_body<T>{on, largest.template data<int32_t>(), dy.data<T>(), dx.data<T>()});
}

/// The same for the element that receives the gradient.
template <class T>
status agree_on_largest_gradient(kernel_context& at, const pooling& geometry, const windows& on,
                                 layer_library& library, const layer_library::call& call,
                                 const troupe::gpu::pooling_layer& layer) {
  TROUPE_ASSIGN(auto x, tensor::make(dtype_of<T>, geometry.input, at.memory()));
  TROUPE_ASSIGN(auto dy, tensor::make(dtype_of<T>, geometry.output, at.memory()));
  TROUPE_ASSIGN(auto own_result, tensor::make(dtype_of<T>, geometry.input, at.memory()));
  TROUPE_ASSIGN(auto library_result, tensor::make(dtype_of<T>, geometry.input, at.memory()));
  TROUPE_ASSIGN(auto results, comparison::begin(at));
  TROUPE_TRY(for_each(at, dy.elements(), small_numbers_body<T>{dy.template data<T>()}));
  for (int round = 0; round < ties_body<T>::rounds; ++round) {
    TROUPE_TRY(for_each(at, x.elements(), ties_body<T>{x.template data<T>(), round}));
    TROUPE_TRY(launch_max_pool_gradient<T>(at, on, geometry.output, x, dy, own_result));
    TROUPE_TRY(library.pool_back(call, layer, x.raw(), dy.raw(), library_result.raw()));
    TROUPE_TRY(results.template add<T>(at, own_result, library_result));
  }
  return results.end(at);
}

template <class T>
status max_pool_gradient(kernel_context& at) {
  TROUPE_ASSIGN(auto geometry, make_pooling(at, at.input(0).dims()));
  TROUPE_TRY(expect_dims(at.input(1), geometry.output, "orig_output"));
  TROUPE_TRY(expect_dims(at.input(2), geometry.output, "grad"));
  TROUPE_ASSIGN(auto* out, at.allocate(0, geometry.input));
  if (out->elements() == 0)
    return {};
  TROUPE_ASSIGN(auto on, windows_of(geometry));
  auto layer = pooling_layer_of(geometry, dtype_of<T>, true, true);
  return compute_layer(
      at, layer,
      [&] {
        return launch_max_pool_gradient<T>(at, on, geometry.output, at.input(0), at.input(2), *out);
      },
      [&at, layer, dx = out->raw()](layer_library& library, const auto& call) {
        return library.pool_back(call, layer, at.input(0).raw(), at.input(2).raw(), dx);
      },
      [&at, &geometry, on, layer](layer_library& library, const auto& call) {
        return agree_on_largest_gradient<T>(at, geometry, on, library, call, layer);
      });
}

template <class T>
struct max_pool_second_body {
  windows on;
  const T *x, *from;
  T* to;
  TROUPE_DEVICE void operator()(int64_t i) const {
    largest_of_window<T> largest{on, x, on.out.locate(i)};
    to[i] = largest.k < 0 ? T{} : from[largest.offset];
  }
};

template <class T>
status max_pool_second_gradient(kernel_context& at) {
  TROUPE_ASSIGN(auto geometry, make_pooling(at, at.input(0).dims()));
  TROUPE_TRY(expect_dims(at.input(1), geometry.output, "orig_output"));
  TROUPE_TRY(expect_dims(at.input(2), geometry.input, "grad"));
  TROUPE_ASSIGN(auto* out, at.allocate(0, geometry.output));
  if (out->elements() == 0)
    return {};
  TROUPE_ASSIGN(auto on, windows_of(geometry));
  return for_each(at, out->elements(),
                  max_pool_second_body<T>{on, at.input(0).data<T>(), at.input(2).data<T>(),
                                          out->template data<T>()});
}

template <class T>
struct average_pool_body {
  windows on;
  const T* x;
  T* y;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto window = on.out.locate(i);
    compute_type<T> sum{};
    on.for_each_element(window.at, on.in.plane(window.image, window.channel),
                        [&](int32_t, int64_t from) { sum += load(x[from]); });
    auto share = compute_type<T>{1} / static_cast<compute_type<T>>(on.count(window.at));
    y[i] = store<T>(sum * share);
  }
};

template <class T>
status average_pool(kernel_context& at) {
  TROUPE_ASSIGN(auto geometry, make_pooling(at, at.input(0).dims()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, geometry.output));
  if (out->elements() == 0)
    return {};
  TROUPE_ASSIGN(auto on, windows_of(geometry));
  const average_pool_body<T> body{on, at.input(0).data<T>(), out->template data<T>()};
  auto layer = pooling_layer_of(geometry, dtype_of<T>, false, false);
  return compute_layer(
      at, layer, [&at, body, count = out->elements()] { return for_each(at, count, body); },
      [=](layer_library& library, const auto& call) {
        return library.pool(call, layer, body.x, body.y);
      });
}

template <class T>
struct average_pool_gradient_body {
  windows on;
  const T* dy;
  T* dx;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto position = on.in.locate(i);
    compute_type<T> sum{};
    on.for_each_window(position.at, on.out.plane(position.image, position.channel),
                       [&](int32_t, int64_t from, const int32_t(&window)[3]) {
                         auto share =
                             compute_type<T>{1} / static_cast<compute_type<T>>(on.count(window));
                         sum += share * load(dy[from]);
                       });
    dx[i] = store<T>(sum);
  }
};

template <class T>
status average_pool_gradient(kernel_context& at) {
  TROUPE_ASSIGN(auto geometry, make_pooling_of_sizes(at, at.input(0)));
  TROUPE_TRY(expect_dims(at.input(1), geometry.output, "grad"));
  TROUPE_ASSIGN(auto* out, at.allocate(0, geometry.input));
  if (out->elements() == 0)
    return {};
  TROUPE_ASSIGN(auto on, windows_of(geometry));
  const average_pool_gradient_body<T> body{on, at.input(1).data<T>(), out->template data<T>()};
  auto layer = pooling_layer_of(geometry, dtype_of<T>, false, true);
  return compute_layer(
      at, layer, [&at, body, count = out->elements()] { return for_each(at, count, body); },
      [=](layer_library& library, const auto& call) {
        return library.pool_back(call, layer, nullptr, body.dy, body.dx);
      });
}

/// The positions of the maxima, as 32-bit or 64-bit numbers.
struct argmax_places {
  void* places;
  bool wide, whole;       ///< whole: counted from the start of the batch
  int64_t image, windows; ///< elements per image of input and output

  argmax_places(kernel_context& at, const pooling& geometry, const tensor& positions)
      : places(positions.raw()), wide(positions.type() == dtype::i64),
        whole(at.state<pool_state>().include_batch), image(geometry.inputs() * geometry.channels),
        windows(geometry.outputs() * geometry.channels) {}

  /// The position for window i relative to its own image; it is outside of [0, image) where it is
  /// invalid.
  TROUPE_DEVICE int64_t at(int64_t i) const {
    auto stored = wide ? static_cast<const int64_t*>(places)[i]
                       : int64_t{static_cast<const int32_t*>(places)[i]};
    return whole ? stored - i / windows * image : stored;
  }
  TROUPE_DEVICE int64_t first(int64_t i) const { return i / windows * image; }
  TROUPE_DEVICE void put(int64_t i, int64_t offset) const {
    auto place = whole ? offset : offset - first(i);
    if (wide)
      static_cast<int64_t*>(places)[i] = place;
    else
      static_cast<int32_t*>(places)[i] = static_cast<int32_t>(place);
  }
};

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> max_pool_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, max_pool<Ts>}...};
}
template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> max_pool_gradient_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, max_pool_gradient<Ts>}...};
}
template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> max_pool_second_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, max_pool_second_gradient<Ts>}...};
}
template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> average_pool_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, average_pool<Ts>}...};
}
template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> average_pool_gradient_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, average_pool_gradient<Ts>}...};
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
