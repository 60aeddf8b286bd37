#include "troupe/api/layers/initializers.hpp"
// Adds the nodes of initial values.

#include "troupe/api/error.hpp"
#include "troupe/api/operators.hpp"

#include <cmath>
#include <numeric>

namespace troupe::initializers {
namespace {

using location = std::source_location;

tensor extents_of(const shape& dims) { return tensor::vector<int64_t>({dims.begin(), dims.end()}); }

tensor in_type(double value, dtype type) {
  return value_or_throw(convert_literal(tensor::scalar(value), type));
}

edge scaled(edge x, double factor, double shift, location where) {
  auto product = factor == 1 ? x : mul(x, in_type(factor, x.type()), {}, where);
  return shift == 0 ? product : add(product, in_type(shift, x.type()), {}, where);
}

// The numbers of inputs and outputs of a unit.
struct fans {
  double in, out;
};

fans fans_of(const shape& dims) {
  if (dims.rank() == 0)
    return {1, 1};
  if (dims.rank() == 1)
    return {static_cast<double>(dims[0]), static_cast<double>(dims[0])};
  double window = 1;
  for (int i = 0; i < dims.rank() - 2; ++i)
    window *= static_cast<double>(dims[i]);
  return {window * static_cast<double>(dims[dims.rank() - 2]),
          window * static_cast<double>(dims[dims.rank() - 1])};
}

// The deviation of a standard normal distribution that is truncated at two deviations.
constexpr double truncated_deviation = 0.87962566103423978;

initializer of_variance(double (*variance)(const fans&), bool normal, int64_t seed) {
  return [=](graph_builder& in, const shape& dims, dtype type, location where) {
    auto deviation = std::sqrt(variance(fans_of(dims)));
    return normal
               ? truncated_normal(deviation / truncated_deviation, 0, seed)(in, dims, type, where)
               : uniform(-std::sqrt(3.0) * deviation, std::sqrt(3.0) * deviation,
                         seed)(in, dims, type, where);
  };
}

double glorot_variance(const fans& counts) { return 2 / (counts.in + counts.out); }
double he_variance(const fans& counts) { return 2 / counts.in; }
double lecun_variance(const fans& counts) { return 1 / counts.in; }

void need_axes(const shape& dims, const char* function, location where) {
  if (dims.rank() < 2)
    throw error{invalid(function, " (", to_string(where), ") needs at least two axes, got ", dims)};
}

} // namespace

initializer constant(double value) {
  return [=](graph_builder& in, const shape& dims, dtype type, location where) {
    return fill(in, extents_of(dims), in_type(value, type), {}, where);
  };
}

initializer zeros() { return constant(0); }
initializer ones() { return constant(1); }

initializer uniform(double low, double high, int64_t seed) {
  return [=](graph_builder& in, const shape& dims, dtype type, location where) {
    return scaled(random_uniform(in, extents_of(dims), type, {.seed = seed}, {}, where), high - low,
                  low, where);
  };
}

initializer normal(double deviation, double mean, int64_t seed) {
  return [=](graph_builder& in, const shape& dims, dtype type, location where) {
    return scaled(random_standard_normal(in, extents_of(dims), type, {.seed = seed}, {}, where),
                  deviation, mean, where);
  };
}

initializer truncated_normal(double deviation, double mean, int64_t seed) {
  return [=](graph_builder& in, const shape& dims, dtype type, location where) {
    return scaled(troupe::truncated_normal(in, extents_of(dims), type, {.seed = seed}, {}, where),
                  deviation, mean, where);
  };
}

initializer glorot_uniform(int64_t seed) { return of_variance(glorot_variance, false, seed); }
initializer glorot_normal(int64_t seed) { return of_variance(glorot_variance, true, seed); }
initializer he_normal(int64_t seed) { return of_variance(he_variance, true, seed); }
initializer he_uniform(int64_t seed) { return of_variance(he_variance, false, seed); }
initializer lecun_normal(int64_t seed) { return of_variance(lecun_variance, true, seed); }

initializer identity(double gain) {
  return [=](graph_builder& in, const shape& dims, dtype type, location where) {
    need_axes(dims, "identity", where);
    auto rows = dims[dims.rank() - 2], columns = dims[dims.rank() - 1];
    auto row = range(in, int64_t{0}, rows, int64_t{1}, {}, where);
    auto diagonal = one_hot(row, static_cast<int32_t>(columns), in_type(gain, type),
                            in_type(0, type), {}, where);
    return broadcast_to(diagonal, extents_of(dims), {}, where);
  };
}

initializer orthogonal(double gain, int64_t seed) {
  return [=](graph_builder& in, const shape& dims, dtype type, location where) {
    need_axes(dims, "orthogonal", where);
    auto columns = dims[dims.rank() - 1], rows = columns ? dims.elements() / columns : 0;
    auto tall = rows >= columns;
    shape drawn{tall ? rows : columns, tall ? columns : rows};
    auto work = type == dtype::f64 ? dtype::f64 : dtype::f32; // types that qr supports
    auto parts = qr(normal(1, 0, seed)(in, drawn, work, where), {}, where);
    // The signs of r's diagonal make all orthogonal matrices equally likely.
    auto q = mul(parts.q, sign(matrix_diag_part(parts.r, {}, where), {}, where), {}, where);
    if (!tall)
      q = transpose(q, {1, 0}, {}, where);
    auto shaped = scaled(reshape(q, extents_of(dims), {}, where), gain, 0, where);
    return type == work ? shaped : cast(shaped, type, {}, where);
  };
}

} // namespace troupe::initializers
