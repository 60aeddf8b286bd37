#include "troupe/ops/norm/shared/batch_norm.cpu.hpp"

#include "troupe/ops/norm/shared/channel_rows.cpu.hpp"

#include <cmath>
#include <cstring>

namespace troupe::ops {
namespace {

struct moments {
  doubles mean, variance;
};

// Distances are taken from the first row, which is near the mean, so that their squares keep
// precision.
template <class T>
moments moments_of(kernel_context& at, const channel_rows<T>& rows, const T* x) {
  auto channels = static_cast<size_t>(rows.channels);
  doubles center(channels);
  if (rows.rows > 0)
    for (size_t c = 0; c < channels; ++c)
      center[c] = double{widen(x[c])};
  auto total = sum_rows(at, rows, x, x, center, center);
  moments sums{doubles(channels), doubles(channels)};
  auto count = static_cast<double>(rows.rows);
  for (size_t c = 0; c < channels; ++c) {
    auto from_near = total.sums[c] / count;
    sums.mean[c] = center[c] + from_near;
    sums.variance[c] = total.products[c] / count - from_near * from_near;
    if (sums.variance[c] < 0)
      sums.variance[c] = 0;
  }
  return sums;
}

void average(doubles& batch, const doubles& running, double factor) {
  for (size_t c = 0; c < batch.size(); ++c)
    if (factor != 1)
      batch[c] = (1 - factor) * running[c] + factor * batch[c];
}

doubles inverse_deviations(const doubles& variance, double epsilon) {
  doubles values;
  for (auto value : variance)
    values.push_back(1 / std::sqrt(value + epsilon));
  return values;
}

} // namespace

template <class T>
status batch_norm(kernel_context& at) {
  const auto& state = at.state<batch_norm_state>();
  TROUPE_ASSIGN(auto rows, rows_of<T>(at, at.input(0)));
  TROUPE_ASSIGN(auto scale, channel_values(at.input(1), rows.channels, "scale"));
  TROUPE_ASSIGN(auto offset, channel_values(at.input(2), rows.channels, "offset"));
  auto unused = state.training && state.factor == 1;
  TROUPE_ASSIGN(auto mean, channel_values(at.input(3), rows.channels, "mean", unused));
  TROUPE_ASSIGN(auto variance, channel_values(at.input(4), rows.channels, "variance", unused));
  TROUPE_ASSIGN(auto* out, at.allocate(0, at.input(0).dims()));
  TROUPE_ASSIGN(auto x, rows.read(at, at.input(0)));
  moments used_moments{mean, variance};
  if (state.training) {
    used_moments = moments_of(at, rows, static_cast<const T*>(x.template data<T>()));
    auto batch = used_moments;
    auto count = static_cast<double>(rows.rows);
    for (auto& value : batch.variance)
      value *= count / std::max(1.0, count - 1);
    average(batch.mean, mean, state.factor);
    average(batch.variance, variance, state.factor);
    mean = std::move(batch.mean);
    variance = std::move(batch.variance);
  }
  TROUPE_TRY(give(at, 1, mean));
  TROUPE_TRY(give(at, 2, variance));
  TROUPE_TRY(give(at, 3, used_moments.mean));
  TROUPE_TRY(give(at, 4, used_moments.variance));
  if (at.outputs() > 5) { // unused here
    TROUPE_ASSIGN(auto* reserved, at.allocate(5, shape{}));
    std::memset(reserved->raw(), 0, reserved->bytes());
  }
  auto factors = inverse_deviations(used_moments.variance, state.epsilon);
  for (size_t c = 0; c < factors.size(); ++c)
    factors[c] *= scale[c];
  using number = compute_type<T>;
  auto centre = rounded<number>(used_moments.mean), by = rounded<number>(factors),
       plus = rounded<number>(offset);
  auto turned = *out;
  if (rows.turned) {
    TROUPE_ASSIGN(turned, rows.room(at));
  }
  const auto* from = x.template data<T>();
  auto* to = turned.template data<T>();
  for_each_row(at, rows, [&](int64_t i) {
    if constexpr (is_hot<T>)
      scale_row_hot<T>(from + i, centre.data(), by.data(), plus.data(), to + i, rows.channels);
    else
      scale_row<T>(from + i, centre.data(), by.data(), plus.data(), to + i, rows.channels);
  });
  rows.write(at, turned, *out);
  return {};
}

template <class T>
status batch_norm_gradient(kernel_context& at) {
  const auto& state = at.state<batch_norm_state>();
  TROUPE_ASSIGN(auto rows, rows_of<T>(at, at.input(1)));
  TROUPE_TRY(expect_like_x(at.input(0), at.input(1)));
  TROUPE_ASSIGN(auto scale, channel_values(at.input(2), rows.channels, "scale"));
  TROUPE_ASSIGN(auto mean, channel_values(at.input(3), rows.channels, "reserve_space_1"));
  TROUPE_ASSIGN(auto variance, channel_values(at.input(4), rows.channels, "reserve_space_2"));
  TROUPE_ASSIGN(auto* out, at.allocate(0, at.input(1).dims()));
  TROUPE_ASSIGN(auto dy, rows.read(at, at.input(0)));
  TROUPE_ASSIGN(auto x, rows.read(at, at.input(1)));
  const auto *from_dy = dy.template data<T>(), *from_x = x.template data<T>();
  auto channels = static_cast<size_t>(rows.channels);
  auto total = sum_rows(at, rows, from_dy, from_x, doubles(channels), mean);
  auto inverse = inverse_deviations(variance, state.epsilon);
  doubles by_dy(channels), by_x(channels), offset(channels), dscale(channels);
  for (size_t c = 0; c < channels; ++c) {
    by_dy[c] = scale[c] * inverse[c];
    dscale[c] = inverse[c] * total.products[c];
    if (state.training) {
      auto count = static_cast<double>(rows.rows);
      by_x[c] = -by_dy[c] * inverse[c] * inverse[c] * total.products[c] / count;
      offset[c] = -by_dy[c] * total.sums[c] / count;
    }
  }
  TROUPE_TRY(give(at, 1, dscale));
  TROUPE_TRY(give(at, 2, total.sums));
  TROUPE_TRY(give(at, 3, {}));
  TROUPE_TRY(give(at, 4, {}));
  using number = compute_type<T>;
  auto a = rounded<number>(by_dy), b = rounded<number>(by_x), plus = rounded<number>(offset),
       centre = rounded<number>(mean);
  auto turned = *out;
  if (rows.turned) {
    TROUPE_ASSIGN(turned, rows.room(at));
  }
  auto* to = turned.template data<T>();
  for_each_row(at, rows, [&](int64_t i) {
    if constexpr (is_hot<T>)
      combine_row_hot<T>(from_dy + i, from_x + i, a.data(), centre.data(), b.data(), plus.data(),
                         to + i, rows.channels);
    else
      combine_row<T>(from_dy + i, from_x + i, a.data(), centre.data(), b.data(), plus.data(),
                     to + i, rows.channels);
  });
  rows.write(at, turned, *out);
  return {};
}

template status batch_norm<float16>(kernel_context&);
template status batch_norm<bfloat16>(kernel_context&);
template status batch_norm<float>(kernel_context&);
template status batch_norm<double>(kernel_context&);
template status batch_norm_gradient<float16>(kernel_context&);
template status batch_norm_gradient<bfloat16>(kernel_context&);
template status batch_norm_gradient<float>(kernel_context&);
template status batch_norm_gradient<double>(kernel_context&);

} // namespace troupe::ops
