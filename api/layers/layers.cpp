#include "troupe/api/layers/layers.hpp"
// Adds dense, convolution, pooling, batch normalization and dropout layers.

#include "troupe/api/error.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/api/operators.hpp"

namespace troupe {
namespace {

using location = std::source_location;

// Returns the last extent of an input, which a layer needs to create its variables.
int64_t last_extent(edge x, const std::string& layer, location where) {
  auto fail = [&](const auto&... parts) {
    throw error{invalid(parts...).with_context(concat(layer, " (", to_string(where), ')'))};
  };
  if (x.is_empty())
    fail("the input is an empty edge");
  if (!x.dims().has_rank() || x.dims().rank() == 0 || x.dims()[x.dims().rank() - 1] < 0)
    fail("the last extent of '", x, "' must be known, its shape is ", x.dims());
  return x.dims()[x.dims().rank() - 1];
}

// Returns the shape of x with another last extent, as an edge.
edge batch_and(edge x, int64_t last, location where) {
  auto& in = x.node->graph();
  auto batch = slice(shape_of(x, {}, {}, where), {0}, {x.dims().rank() - 1}, {}, where);
  auto last_vector = fill(in, {1}, static_cast<int32_t>(last), {}, where);
  return concatenate({batch, last_vector}, 0, {}, where);
}

void need_size(std::string_view layer, location where, int64_t size, int64_t minimum,
               std::string_view name) {
  if (size < minimum)
    reject(layer, where, name, " must be at least ", minimum, ", got ", size);
}

void need_two(std::string_view layer, location where, const std::vector<int64_t>& sizes,
              std::string_view name) {
  if (sizes.size() != 2)
    reject(layer, where, name, " must be two numbers, for height and width, got ", sizes.size());
}

std::vector<int64_t> of_images(std::span<const int64_t> window) {
  return {1, window[0], window[1], 1};
}

std::pair<std::vector<int64_t>, std::vector<int64_t>> windows(std::span<const int64_t> window,
                                                              const pool_options& options) {
  auto strides = options.strides;
  for (size_t i = 0; i < 2; ++i)
    strides[i] = strides[i] == 0 ? window[i] : strides[i];
  return {of_images(window), of_images(strides)};
}

// Returns the scale of the elements that dropout keeps.
operand scale_of(const operand& rate, location where) {
  if (rate.is_edge()) {
    auto kept = sub(1.0, rate, {}, where);
    auto drops_all = cast(equal(kept, 0.0, {}, where), kept.type(), {}, where);
    return div(1.0, add(kept, drops_all, {}, where), {}, where); // 0 / 0 would be NaN
  }
  auto number = convert_literal(rate.value(), dtype::f64);
  if (!number || number->elements() != 1)
    throw error{invalid("dropout (", to_string(where), "): rate must be a number")};
  auto value = number->values<double>()[0];
  if (!(value >= 0 && value < 1))
    throw error{invalid("dropout (", to_string(where), "): rate must be in [0, 1), got ", value)};
  return 1 / (1 - value);
}

} // namespace

dense_layer::dense_layer(graph_builder& in, int64_t inputs, int64_t units, dense_options options,
                         dtype type, location where)
    : activation(std::move(options.activation)) {
  need_size(options.name, where, inputs, 0, "inputs");
  need_size(options.name, where, units, 1, "units");
  need_function(options.name, where, options.weights, "the initializer of the weights");
  if (options.bias)
    need_function(options.name, where, options.biases, "the initializer of the biases");
  auto scope = in.scope(options.name, where);
  weights = in.variable(options.weights(in, {inputs, units}, type, where), "weights", where);
  if (options.bias)
    biases = in.variable(options.biases(in, {units}, type, where), "biases", where);
}

edge dense_layer::operator()(edge x, location where) const {
  need_edge("dense_layer", where, x, "the input");
  auto inputs = weights.dims()[0], units = weights.dims()[1];
  auto is_matrix = !x.dims().has_rank() || x.dims().rank() == 2;
  auto rows = is_matrix ? x : reshape(x, {int64_t{-1}, inputs}, {}, where);
  auto y = matmul(rows, weights, {}, {}, where);
  if (biases)
    y = bias_add(y, *biases, {}, {}, where);
  y = activation(y, where);
  if (is_matrix)
    return y;
  return reshape(y, batch_and(x, units, where), {}, where);
}

edge dense(graph_builder& in, edge x, int64_t units, dense_options options, location where) {
  auto inputs = last_extent(x, options.name, where);
  return dense_layer{in, inputs, units, std::move(options), x.type(), where}(x, where);
}

conv2d_layer::conv2d_layer(graph_builder& in, int64_t channels, int64_t filters,
                           std::array<int64_t, 2> window, conv_options given_options, dtype type,
                           location where)
    : options(std::move(given_options)) {
  need_size(options.name, where, channels, 0, "channels");
  need_size(options.name, where, filters, 1, "filters");
  need_size(options.name, where, std::min(window[0], window[1]), 1, "the window");
  need_two(options.name, where, options.strides, "strides");
  need_two(options.name, where, options.dilations, "dilations");
  need_function(options.name, where, options.weights, "the initializer of the weights");
  if (options.bias)
    need_function(options.name, where, options.biases, "the initializer of the biases");
  auto scope = in.scope(options.name, where);
  shape dims{window[0], window[1], channels, filters};
  weights = in.variable(options.weights(in, dims, type, where), "weights", where);
  if (options.bias)
    biases = in.variable(options.biases(in, {filters}, type, where), "biases", where);
}

edge conv2d_layer::operator()(edge x, location where) const {
  need_edge("conv2d_layer", where, x, "the input");
  need_two(options.name, where, options.strides, "strides");
  need_two(options.name, where, options.dilations, "dilations");
  auto y = troupe::conv2d(x, weights, of_images(options.strides), options.padding,
                          {.dilations = of_images(options.dilations)}, {}, where);
  if (biases)
    y = bias_add(y, *biases, {}, {}, where);
  return options.activation(y, where);
}

edge conv2d(graph_builder& in, edge x, int64_t filters, std::array<int64_t, 2> window,
            conv_options options, location where) {
  auto channels = last_extent(x, options.name, where);
  return conv2d_layer{in, channels, filters, window, std::move(options), x.type(), where}(x, where);
}

edge max_pool2d(edge x, std::array<int64_t, 2> window, pool_options options, location where) {
  auto [ksize, strides] = windows(window, options);
  return max_pool(x, ksize, strides, options.padding, {}, {}, where);
}

edge avg_pool2d(edge x, std::array<int64_t, 2> window, pool_options options, location where) {
  auto [ksize, strides] = windows(window, options);
  return avg_pool(x, ksize, strides, options.padding, {}, {}, where);
}

edge flatten(edge x, location where) {
  need_edge("flatten", where, x, "the input");
  int64_t size = x.dims().has_rank() && x.dims().rank() > 0 ? 1 : -1;
  for (int i = 1; size > 0 && i < x.dims().rank(); ++i)
    size = x.dims()[i] < 0 ? -1 : size * x.dims()[i];
  if (size > 0)
    return reshape(x, {int64_t{-1}, size}, {}, where);
  auto rows = slice(shape_of(x, {}, {}, where), {0}, {1}, {}, where);
  auto open_extent = fill(x.node->graph(), {1}, int32_t{-1}, {}, where);
  return reshape(x, concatenate({rows, open_extent}, 0, {}, where), {}, where);
}

batch_norm_layer::batch_norm_layer(graph_builder& in, int64_t channels,
                                   batch_norm_options given_options, dtype type, location where)
    : options(std::move(given_options)) {
  need_size(options.name, where, channels, 0, "channels");
  auto scope = in.scope(options.name, where);
  auto make = [&](std::string_view name, const initializer& value) {
    return in.variable(value(in, {channels}, type, where), name, where);
  };
  gamma = make("gamma", initializers::ones());
  beta = make("beta", initializers::zeros());
  moving_mean = make("moving_mean", initializers::zeros());
  moving_variance = make("moving_variance", initializers::ones());
}

edge batch_norm_layer::operator()(edge x, bool training, location where) const {
  need_edge("batch_norm_layer", where, x, "the input");
  auto& in = x.node->graph();
  auto is_images = x.dims().has_rank() && x.dims().rank() == 4;
  auto channels = gamma.dims()[0];
  auto images =
      is_images ? x : reshape(x, {int64_t{-1}, int64_t{1}, int64_t{1}, channels}, {}, where);
  auto none = operand{tensor::vector<float>({})};
  auto normalized =
      fused_batch_norm_v3(images, gamma, beta, training ? none : operand{moving_mean},
                          training ? none : operand{moving_variance},
                          {.epsilon = options.epsilon, .is_training = training}, {}, where);
  auto y = is_images ? normalized.y : reshape(normalized.y, shape_of(x, {}, {}, where), {}, where);
  if (!training)
    return y;
  auto update = [&](const variable_handle& moving, edge batch_value) {
    auto difference = sub(moving, batch_value, {}, where);
    return assign_sub(moving, mul(difference, 1 - options.momentum, {}, where), {}, where).node;
  };
  in.push_controls({update(moving_mean, normalized.batch_mean),
                    update(moving_variance, normalized.batch_variance)});
  graph_scope later{in, graph_scope::kind::controls};
  return identity(y, {}, where);
}

edge batch_norm(graph_builder& in, edge x, bool training, batch_norm_options options,
                location where) {
  auto channels = last_extent(x, options.name, where);
  return batch_norm_layer{in, channels, std::move(options), x.type(), where}(x, training, where);
}

edge dropout(edge x, operand rate, dropout_options options, location where) {
  need_edge("dropout", where, x, "the input");
  auto& in = x.node->graph();
  auto noise =
      random_uniform(in, shape_of(x, {}, {}, where), x.type(), {.seed = options.seed}, {}, where);
  auto kept = cast(greater_equal(noise, rate, {}, where), x.type(), {}, where);
  return mul(mul(x, kept, {}, where), scale_of(rate, where), {}, where);
}

} // namespace troupe
