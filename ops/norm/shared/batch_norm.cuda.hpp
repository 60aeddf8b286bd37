// The kernels of FusedBatchNorm on GPUs: sums per channel, the channel's factors computed from
// them, and then the elements.
#pragma once
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/kernel/gpu/layer.cuda.hpp"
#include "troupe/ops/norm/shared/batch_norm_kernels.hpp"
#include "troupe/ops/reduction/shared/reduce.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

/// A vector of any floating type, of which kernels read or write a few elements; it may be empty.
struct any_floats {
  void* data = nullptr;
  dtype type = dtype::f32;
  bool none = false;

  any_floats() = default;
  explicit any_floats(const tensor& vector)
      : data(vector.raw()), type(vector.type()), none(vector.elements() == 0) {}

  TROUPE_DEVICE double at(int64_t i) const {
    switch (type) {
      case dtype::f16: return load(static_cast<const float16*>(data)[i]);
      case dtype::bf16: return load(static_cast<const bfloat16*>(data)[i]);
      case dtype::f32: return static_cast<const float*>(data)[i];
      default: return static_cast<const double*>(data)[i];
    }
  }
  TROUPE_DEVICE void put(int64_t i, double value) const {
    switch (type) {
      case dtype::f16:
        static_cast<float16*>(data)[i] = store<float16>(static_cast<float>(value));
        break;
      case dtype::bf16:
        static_cast<bfloat16*>(data)[i] = store<bfloat16>(static_cast<float>(value));
        break;
      case dtype::f32: static_cast<float*>(data)[i] = static_cast<float>(value); break;
      default: static_cast<double*>(data)[i] = value;
    }
  }
};

/// The positions of a channel's elements.
struct channel_elements {
  int64_t channels, inner, items;
  bool narrow;

  explicit channel_elements(const channel_view& view)
      : channels(view.channels), inner(view.inner), items(view.outer * view.inner),
        narrow(view.outer * view.inner * view.channels <= UINT32_MAX) {}

  TROUPE_DEVICE int64_t element(int64_t channel, int64_t item) const {
    if (inner == 1)
      return item * channels + channel;
    auto outer = narrow ? static_cast<uint32_t>(item) / static_cast<uint32_t>(inner) : item / inner;
    return (outer * channels + channel) * inner + (item - outer * inner);
  }
  TROUPE_DEVICE int64_t channel_of(int64_t element) const {
    if (narrow) {
      auto at = static_cast<uint32_t>(element);
      return (inner == 1 ? at : at / static_cast<uint32_t>(inner)) %
             static_cast<uint32_t>(channels);
    }
    return element / inner % channels;
  }
};

/// Sums of a and of a product.
struct two_totals {
  double sum, product;
};
struct add_two_totals {
  template <class Total>
  static constexpr Total start() {
    return {};
  }
  template <class Total>
  static TROUPE_DEVICE Total step(const Total& a, const Total& b) {
    return {a.sum + b.sum, a.product + b.product};
  }
};

/// The factors of a channel's elements: y = (x - centre) * by + plus, or in gradients dx = dy *
/// by_dy + (x - centre) * by + plus.
template <class N>
struct channel_factors {
  N centre, by, plus, by_dy;
};

// Distances are taken from the first element, which is near the mean, so that their squares keep
// precision.
template <class T>
struct moments_source {
  channel_elements of;
  const T* x;
  TROUPE_DEVICE compute_type<T> near(int64_t channel) const {
    return load(x[of.element(channel, 0)]);
  }
  TROUPE_DEVICE two_totals operator()(int64_t channel, int64_t item) const {
    auto away = static_cast<double>(load(x[of.element(channel, item)]) - near(channel));
    return {away, away * away};
  }
};

/// Computes the statistics and factors of a channel from its moments.
template <class T>
struct normalize_channel {
  any_floats scale, offset, mean, variance; // mean, variance: running averages, or given statistics
  any_floats new_mean, new_variance, used_mean, used_variance;
  double epsilon, factor;
  channel_factors<compute_type<T>>* factors; // null where a library computes the elements

  TROUPE_DEVICE void use(int64_t c, double centre, double spread) const {
    using number = compute_type<T>;
    used_mean.put(c, centre);
    used_variance.put(c, spread);
    if (!factors)
      return;
    auto multiplier = 1 / sqrt(spread + epsilon) * scale.at(c);
    factors[c] = {static_cast<number>(centre), static_cast<number>(multiplier),
                  static_cast<number>(offset.at(c)), number{}};
  }
  TROUPE_DEVICE double averaged(double batch, const any_floats& running, int64_t c) const {
    return factor == 1 ? batch : (1 - factor) * running.at(c) + factor * batch;
  }
};

template <class T>
struct moments_sink {
  normalize_channel<T> then;
  moments_source<T> from;
  TROUPE_DEVICE void operator()(int64_t c, const two_totals& total) const {
    auto count = static_cast<double>(from.of.items);
    auto near = from.of.items > 0 ? static_cast<double>(from.near(c)) : 0.0;
    auto away = total.sum / count;
    auto mean = near + away, variance = total.product / count - away * away;
    if (variance < 0)
      variance = 0;
    auto unbiased = variance * (count / (count > 2 ? count - 1 : 1));
    then.new_mean.put(c, then.averaged(mean, then.mean, c));
    then.new_variance.put(c, then.averaged(unbiased, then.variance, c));
    then.use(c, mean, variance);
  }
};

template <class T>
struct given_moments {
  normalize_channel<T> then;
  TROUPE_DEVICE void operator()(int64_t c) const {
    auto mean = then.mean.at(c), variance = then.variance.at(c);
    then.new_mean.put(c, mean);
    then.new_variance.put(c, variance);
    then.use(c, mean, variance);
  }
};

template <class T>
struct normalize_body {
  channel_elements of;
  const channel_factors<compute_type<T>>* factors;
  const T* x;
  T* y;
  TROUPE_DEVICE void operator()(int64_t i) const {
    const auto& channel = factors[of.channel_of(i)];
    y[i] = store<T>((load(x[i]) - channel.centre) * channel.by + channel.plus);
  }
};

template <class T>
result<tensor> factors_for(kernel_context& at, int64_t channels) {
  constexpr int64_t bytes = sizeof(channel_factors<compute_type<T>>);
  return tensor::make(dtype::u8, shape{channels * bytes}, at.memory());
}

using batch_norm_step = troupe::gpu::batch_norm_layer::step;
inline troupe::gpu::batch_norm_layer batch_norm_layer_of(const batch_norm_state& state,
                                                         const tensor& x, batch_norm_step step) {
  const auto& dims = x.dims();
  troupe::gpu::batch_norm_layer layer{.computes = step,
                                      .type = x.type(),
                                      .channels_last = !state.channels_first,
                                      .images = dims[0],
                                      .channels = dims[state.channels_first ? 1 : dims.rank() - 1],
                                      .epsilon = state.epsilon};
  auto spatial = dims.rank() - 2, first = state.channels_first ? 2 : 1;
  for (int i = 0; i < spatial; ++i)
    layer.extents[static_cast<size_t>(3 - spatial + i)] = dims[first + i];
  return layer;
}

/// Whether the channels' parameters have the type that libraries need.
template <class T>
bool suit_library(std::initializer_list<dtype> types) {
  return std::ranges::all_of(types, [](auto type) { return type == dtype_of<compute_type<T>>; });
}

// Takes a channel's moments from a library: its mean, and its unbiased variance.
template <class T>
struct found_moments {
  normalize_channel<T> then;
  any_floats mean, unbiased;
  double count;
  TROUPE_DEVICE void operator()(int64_t c) const {
    auto batch_mean = mean.at(c), unbiased_variance = unbiased.at(c);
    then.new_mean.put(c, then.averaged(batch_mean, then.mean, c));
    then.new_variance.put(c, then.averaged(unbiased_variance, then.variance, c));
    then.use(c, batch_mean, unbiased_variance * ((count - 1) / count));
  }
};

/// The operands of a normalization, for its kernels.
template <class T>
struct batch_norm_task {
  channel_elements of;
  normalize_channel<T> then;
  const T* x;
  T* y;
};

template <class T>
status launch_batch_norm(kernel_context& at, batch_norm_task<T> task, bool training) {
  const auto& elements = task.of;
  TROUPE_ASSIGN(auto factor_memory, factors_for<T>(at, elements.channels));
  auto* factors = static_cast<channel_factors<compute_type<T>>*>(factor_memory.raw());
  task.then.factors = factors;
  if (training) {
    moments_source<T> source{elements, task.x};
    TROUPE_TRY((reduce_each<add_two_totals, two_totals>(at, elements.channels, elements.items,
                                                        elements.inner == 1, source,
                                                        moments_sink<T>{task.then, source})));
  } else {
    TROUPE_TRY(for_each(at, elements.channels, given_moments<T>{task.then}));
  }
  return for_each(at, elements.items * elements.channels,
                  normalize_body<T>{elements, factors, task.x, task.y});
}

template <class T>
status batch_norm_by(layer_library& library, const layer_library::call& call, kernel_context& at,
                     const troupe::gpu::batch_norm_layer& layer, const batch_norm_task<T>& task) {
  const auto& normalize = task.then;
  layer_library::factors library_factors{normalize.scale.data, normalize.offset.data};
  if (layer.computes == batch_norm_step::inference) {
    TROUPE_TRY(library.normalize(call, layer, task.x, library_factors, normalize.mean.data,
                                 normalize.variance.data, task.y));
    return for_each(at, layer.channels, given_moments<T>{normalize});
  }
  constexpr auto type = dtype_of<compute_type<T>>;
  TROUPE_ASSIGN(auto mean, tensor::make(type, shape{layer.channels}, at.memory()));
  TROUPE_ASSIGN(auto unbiased, tensor::make(type, shape{layer.channels}, at.memory()));
  TROUPE_TRY(
      library.normalize(call, layer, task.x, library_factors, mean.raw(), unbiased.raw(), task.y));
  return for_each(at, layer.channels,
                  found_moments<T>{normalize, any_floats{mean}, any_floats{unbiased},
                                   static_cast<double>(task.of.items)});
}

template <class T>
status batch_norm(kernel_context& at) {
  const auto& state = at.state<batch_norm_state>();
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto view, view_normalized(at, x.dims()));
  TROUPE_TRY(expect_channels(at.input(1), view.channels, "scale"));
  TROUPE_TRY(expect_channels(at.input(2), view.channels, "offset"));
  auto unused = state.training && state.factor == 1;
  TROUPE_TRY(expect_channels(at.input(3), view.channels, "mean", unused));
  TROUPE_TRY(expect_channels(at.input(4), view.channels, "variance", unused));
  TROUPE_ASSIGN(auto* out, at.allocate(0, x.dims()));
  any_floats statistics[4];
  for (int i = 0; i < 4; ++i) {
    TROUPE_ASSIGN(auto* statistic, at.allocate(i + 1, shape{view.channels}));
    statistics[i] = any_floats{*statistic};
  }
  if (at.outputs() > 5) { // unused here
    TROUPE_ASSIGN(auto* reserved, at.allocate(5, shape{}));
    fill_zeros(at, *reserved);
  }
  const batch_norm_task<T> task{channel_elements{view},
                                {any_floats{at.input(1)}, any_floats{at.input(2)},
                                 any_floats{at.input(3)}, any_floats{at.input(4)}, statistics[0],
                                 statistics[1], statistics[2], statistics[3], state.epsilon,
                                 state.factor, nullptr},
                                x.data<T>(),
                                out->template data<T>()};
  auto ours = [&at, &task, &state] { return launch_batch_norm(at, task, state.training); };
  if (!suit_library<T>({at.input(1).type(), at.input(2).type(), at.input(3).type()}))
    return ours();
  auto layer = batch_norm_layer_of(
      state, x, state.training ? batch_norm_step::training : batch_norm_step::inference);
  return compute_layer(at, layer, ours,
                       [&at, &layer, &task](layer_library& library, const auto& call) {
                         return batch_norm_by(library, call, at, layer, task);
                       });
}

template <class T>
struct gradient_sums_source {
  channel_elements of;
  const T *dy, *x;
  any_floats mean;
  TROUPE_DEVICE two_totals operator()(int64_t channel, int64_t item) const {
    auto at = of.element(channel, item);
    auto slope = load(dy[at]);
    auto away = load(x[at]) - static_cast<compute_type<T>>(mean.at(channel));
    return {static_cast<double>(slope), static_cast<double>(slope * away)};
  }
};

template <class T>
struct gradient_sums_sink {
  any_floats scale, mean, variance, dscale, doffset;
  double epsilon, count;
  bool training;
  channel_factors<compute_type<T>>* factors;
  TROUPE_DEVICE void operator()(int64_t c, const two_totals& total) const {
    using number = compute_type<T>;
    auto inverse = 1 / sqrt(variance.at(c) + epsilon);
    auto by_dy = scale.at(c) * inverse;
    dscale.put(c, inverse * total.product);
    doffset.put(c, total.sum);
    double by_x = 0, plus = 0;
    if (training) {
      by_x = -by_dy * inverse * inverse * total.product / count;
      plus = -by_dy * total.sum / count;
    }
    factors[c] = {static_cast<number>(mean.at(c)), static_cast<number>(by_x),
                  static_cast<number>(plus), static_cast<number>(by_dy)};
  }
};

template <class T>
struct normalize_gradient_body {
  channel_elements of;
  const channel_factors<compute_type<T>>* factors;
  const T *dy, *x;
  T* dx;
  TROUPE_DEVICE void operator()(int64_t i) const {
    const auto& channel = factors[of.channel_of(i)];
    dx[i] = store<T>(load(dy[i]) * channel.by_dy + (load(x[i]) - channel.centre) * channel.by +
                     channel.plus);
  }
};

/// The operands of the gradient, for its kernels.
template <class T>
struct batch_norm_gradient_task {
  channel_elements of;
  any_floats scale, mean, variance, dscale, doffset;
  double epsilon;
  bool training;
  const T *dy, *x;
  T* dx;
};

template <class T>
status launch_batch_norm_gradient(kernel_context& at, const batch_norm_gradient_task<T>& task) {
  const auto& elements = task.of;
  TROUPE_ASSIGN(auto factor_memory, factors_for<T>(at, elements.channels));
  auto* factors = static_cast<channel_factors<compute_type<T>>*>(factor_memory.raw());
  TROUPE_TRY((reduce_each<add_two_totals, two_totals>(
      at, elements.channels, elements.items, elements.inner == 1,
      gradient_sums_source<T>{elements, task.dy, task.x, task.mean},
      gradient_sums_sink<T>{task.scale, task.mean, task.variance, task.dscale, task.doffset,
                            task.epsilon, static_cast<double>(elements.items), task.training,
                            factors})));
  return for_each(at, elements.items * elements.channels,
                  normalize_gradient_body<T>{elements, factors, task.dy, task.x, task.dx});
}

struct inverse_deviation_body {
  any_floats variance, inverse;
  double epsilon;
  TROUPE_DEVICE void operator()(int64_t c) const {
    inverse.put(c, 1 / sqrt(variance.at(c) + epsilon));
  }
};

template <class T>
status batch_norm_gradient_by(layer_library& library, const layer_library::call& call,
                              kernel_context& at, const troupe::gpu::batch_norm_layer& layer,
                              const batch_norm_gradient_task<T>& task) {
  TROUPE_ASSIGN(auto inverse,
                tensor::make(dtype_of<compute_type<T>>, shape{layer.channels}, at.memory()));
  TROUPE_TRY(for_each(at, layer.channels,
                      inverse_deviation_body{task.variance, any_floats{inverse}, task.epsilon}));
  const layer_library::normalized normalized{task.x, task.scale.data, task.mean.data,
                                             inverse.raw()};
  return library.normalize_back(call, layer, normalized, task.dy, task.dx, task.dscale.data,
                                task.doffset.data);
}

template <class T>
status batch_norm_gradient(kernel_context& at) {
  const auto& state = at.state<batch_norm_state>();
  const auto &dy = at.input(0), &x = at.input(1);
  TROUPE_ASSIGN(auto view, view_normalized(at, x.dims()));
  TROUPE_TRY(expect_like_x(dy, x));
  TROUPE_TRY(expect_channels(at.input(2), view.channels, "scale"));
  TROUPE_TRY(expect_channels(at.input(3), view.channels, "reserve_space_1"));
  TROUPE_TRY(expect_channels(at.input(4), view.channels, "reserve_space_2"));
  TROUPE_ASSIGN(auto* out, at.allocate(0, x.dims()));
  TROUPE_ASSIGN(auto* dscale, at.allocate(1, shape{view.channels}));
  TROUPE_ASSIGN(auto* doffset, at.allocate(2, shape{view.channels}));
  TROUPE_TRY(at.allocate(3, shape{0}).status());
  TROUPE_TRY(at.allocate(4, shape{0}).status());
  const batch_norm_gradient_task<T> task{channel_elements{view},
                                         any_floats{at.input(2)},
                                         any_floats{at.input(3)},
                                         any_floats{at.input(4)},
                                         any_floats{*dscale},
                                         any_floats{*doffset},
                                         state.epsilon,
                                         state.training,
                                         dy.data<T>(),
                                         x.data<T>(),
                                         out->template data<T>()};
  auto ours = [&at, &task] { return launch_batch_norm_gradient(at, task); };
  // The library has no gradient for constant mean and variance.
  if (!state.training || !suit_library<T>({at.input(2).type(), at.input(3).type(), dscale->type()}))
    return ours();
  auto layer = batch_norm_layer_of(state, x, batch_norm_step::backward);
  return compute_layer(at, layer, ours,
                       [&at, &layer, &task](layer_library& library, const auto& call) {
                         return batch_norm_gradient_by(library, call, at, layer, task);
                       });
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> batch_norm_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, batch_norm<Ts>}...};
}
template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> batch_norm_gradient_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, batch_norm_gradient<Ts>}...};
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
