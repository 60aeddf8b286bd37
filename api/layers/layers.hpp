// Layers: variables with the formula that uses them. Each layer has two forms: a struct, which may
// be applied to several inputs and then shares its variables; and a function, which creates the
// struct from the input's shape and applies it once.
#pragma once
#include "troupe/api/layers/initializers.hpp"
#include "troupe/runtime/export.hpp"

#include <functional>
#include <optional>

namespace troupe {

/// Any function of an edge: `relu`, `tanh`, a lambda. The default is the identity.
class activation {
public:
  using location = std::source_location;
  activation() = default;
  /// One of the op builders, such as `relu`; null: the identity.
  activation(edge (*builder)(operand, std::string_view, location)) {
    if (builder)
      apply_ = [=](edge x, location where) { return builder(x, {}, where); };
  }
  /// An empty std::function is the identity.
  template <std::invocable<edge> F>
  activation(F formula) {
    if constexpr (requires { std::function{formula}; })
      if (!std::function{formula})
        return;
    apply_ = [=](edge x, location) -> edge { return formula(x); };
  }
  edge operator()(edge x, location where) const { return apply_ ? apply_(x, where) : x; }

private:
  std::function<edge(edge, location)> apply_;
};

struct dense_options {
  troupe::activation activation = {};
  bool bias = true;
  initializer weights = initializers::glorot_uniform();
  initializer biases = initializers::zeros();
  std::string name = "dense"; ///< a scope: variables are "dense/weights" and "dense/biases"
};

/// activation(x * weights + biases) for x [..., inputs]: all axes except the last are batch axes.
struct TROUPE_API dense_layer {
  using location = std::source_location;
  dense_layer(graph_builder& in, int64_t inputs, int64_t units, dense_options options = {},
              dtype type = dtype::f32, location where = location::current());
  edge operator()(edge x, location where = location::current()) const;

  variable_handle weights;               ///< [inputs, units]
  std::optional<variable_handle> biases; ///< [units]
  troupe::activation activation;
};
TROUPE_API edge dense(graph_builder& in, edge x, int64_t units, dense_options options = {},
                      std::source_location where = std::source_location::current());

struct conv_options {
  troupe::activation activation = {};
  bool bias = true;
  std::vector<int64_t> strides = {1, 1}, dilations = {1, 1}; ///< along height and width
  std::string padding = "SAME";
  initializer weights = initializers::glorot_uniform();
  initializer biases = initializers::zeros();
  std::string name = "conv2d";
};

/// activation(conv(x, weights) + biases) for images x [batch, height, width, channels].
struct TROUPE_API conv2d_layer {
  using location = std::source_location;
  conv2d_layer(graph_builder& in, int64_t channels, int64_t filters, std::array<int64_t, 2> window,
               conv_options options = {}, dtype type = dtype::f32,
               location where = location::current());
  edge operator()(edge x, location where = location::current()) const;

  variable_handle weights;               ///< [height, width, channels, filters]
  std::optional<variable_handle> biases; ///< [filters]
  conv_options options;
};
TROUPE_API edge conv2d(graph_builder& in, edge x, int64_t filters, std::array<int64_t, 2> window,
                       conv_options options = {},
                       std::source_location where = std::source_location::current());

struct pool_options {
  std::array<int64_t, 2> strides = {0, 0}; ///< 0: the extent of the window
  std::string padding = "VALID";
};
/// Returns the maximum, or the mean, of each window of images [batch, height, width, channels].
TROUPE_API edge max_pool2d(edge x, std::array<int64_t, 2> window, pool_options options = {},
                           std::source_location where = std::source_location::current());
TROUPE_API edge avg_pool2d(edge x, std::array<int64_t, 2> window, pool_options options = {},
                           std::source_location where = std::source_location::current());

/// Merges all axes except the first into one.
TROUPE_API edge flatten(edge x, std::source_location where = std::source_location::current());

struct batch_norm_options {
  double momentum = 0.99; ///< of the moving mean and variance
  double epsilon = 1e-3;
  std::string name = "batch_norm";
};

/// Normalizes each channel, the last axis, to mean `beta` and deviation `gamma` (Ioffe and Szegedy
/// 2015). For training it uses the batch's own mean and variance, and updates the moving ones
/// before the output can be read; else it uses the moving ones.
struct TROUPE_API batch_norm_layer {
  using location = std::source_location;
  batch_norm_layer(graph_builder& in, int64_t channels, batch_norm_options options = {},
                   dtype type = dtype::f32, location where = location::current());
  edge operator()(edge x, bool training, location where = location::current()) const;

  variable_handle gamma, beta, moving_mean, moving_variance; ///< [channels]
  batch_norm_options options;
};
TROUPE_API edge batch_norm(graph_builder& in, edge x, bool training,
                           batch_norm_options options = {},
                           std::source_location where = std::source_location::current());

struct dropout_options {
  int64_t seed = 0;
};
/// Sets elements to 0 at random and scales the others, so that the expected sum is unchanged
/// (Srivastava et al. 2014). `rate`, in [0, 1], may be an edge: for instance a placeholder that is
/// fed 0 for evaluation. With rate 1, all elements are 0.
TROUPE_API edge dropout(edge x, operand rate, dropout_options options = {},
                        std::source_location where = std::source_location::current());

} // namespace troupe
