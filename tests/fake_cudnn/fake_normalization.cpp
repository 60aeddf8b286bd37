// Softmax, local response and batch normalization of the fake cuDNN, computed by their formulas.
#include "tests/fake_cudnn/fake_forms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace troupe::test;

namespace {

using place = std::array<int64_t, 5>;

struct fake_lrn {
  int64_t n = 5;
  double alpha = 1e-4, beta = 0.75, k = 2;

  // Calls visit(place) for the channels around this one.
  template <class Visit>
  void for_each(const fake_tensor& on, place at, const Visit& visit) const {
    auto behind = (n - 1) / 2, ahead = n - behind - 1, middle = at[1];
    for (at[1] = std::max<int64_t>(middle - behind, 0);
         at[1] <= std::min(middle + ahead, on.extents[1] - 1); ++at[1])
      visit(at);
  }
  double norm(const fake_tensor& on, const void* x, const place& at) const {
    double squares = 0;
    for_each(on, at, [&](const place& near) {
      auto value = read(on.type, x, on.place(near));
      squares += value * value;
    });
    return k + alpha / static_cast<double>(n) * squares;
  }
};

fake_lrn& form_of(cudnnLRNDescriptor_t descriptor) {
  return *reinterpret_cast<fake_lrn*>(descriptor);
}

constexpr auto not_cleared = std::numeric_limits<double>::quiet_NaN();

// Mean and variance of a channel.
struct moments {
  double mean = 0, variance = 0, count = 0;
};

template <class Visit>
void for_each_of_channel(const fake_tensor& on, int64_t channel, const Visit& visit) {
  on.for_each([&](const place& at) {
    if (at[1] == channel)
      visit(on.place(at));
  });
}

moments moments_of(const fake_tensor& on, const void* x, int64_t channel) {
  moments channel_moments;
  for_each_of_channel(on, channel, [&](int64_t at) {
    channel_moments.mean += read(on.type, x, at);
    ++channel_moments.count;
  });
  channel_moments.mean /= channel_moments.count;
  for_each_of_channel(on, channel, [&](int64_t at) {
    auto away = read(on.type, x, at) - channel_moments.mean;
    channel_moments.variance += away * away / channel_moments.count;
  });
  return channel_moments;
}

bool fit(cudnnBatchNormMode_t mode, const fake_tensor& x, const fake_tensor& y,
         const fake_tensor& channels, double epsilon) {
  auto wide = x.type == CUDNN_DATA_DOUBLE;
  return mode == CUDNN_BATCHNORM_SPATIAL && x.same_extents(y) && x.type == y.type &&
         channels.type == (wide ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT) &&
         channels.elements() == x.extents[1] && channels.extents[1] == x.extents[1] &&
         epsilon >= CUDNN_BN_MIN_EPSILON;
}

} // namespace

cudnnStatus_t cudnnSoftmaxForward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algorithm,
                                  cudnnSoftmaxMode_t mode, const void* alpha,
                                  cudnnTensorDescriptor_t x_form, const void* x, const void* beta,
                                  cudnnTensorDescriptor_t y_form, void* y) {
  auto form = form_of(x_form);
  if (!form.same_extents(form_of(y_form)) || form.type != form_of(y_form).type)
    return CUDNN_STATUS_BAD_PARAM;
  return run_fake(handle, __func__, [=, blend = fake_blend{form, alpha, beta}] {
    auto together = [&](const place& a, const place& b) {
      return a[0] == b[0] && (mode == CUDNN_SOFTMAX_MODE_INSTANCE ||
                              (a[2] == b[2] && a[3] == b[3] && a[4] == b[4]));
    };
    std::vector<double> inputs(static_cast<size_t>(form.elements()));
    form.for_each([&](const place& at) {
      auto position = form.place(at);
      inputs[static_cast<size_t>(position)] = read(form.type, x, position);
    });
    form.for_each([&](const place& at) {
      auto largest = -std::numeric_limits<double>::infinity(), sum = 0.0;
      auto visit = [&](auto body) {
        form.for_each([&](const place& other) {
          if (together(at, other))
            body(inputs[static_cast<size_t>(form.place(other))]);
        });
      };
      if (algorithm != CUDNN_SOFTMAX_FAST)
        visit([&](double input) { largest = std::max(largest, input); });
      else
        largest = 0;
      visit([&](double input) { sum += std::exp(input - largest); });
      auto away = inputs[static_cast<size_t>(form.place(at))] - largest;
      blend.put(form.type, y, form.place(at),
                algorithm == CUDNN_SOFTMAX_LOG ? away - std::log(sum) : std::exp(away) / sum);
    });
  });
}

cudnnStatus_t cudnnCreateLRNDescriptor(cudnnLRNDescriptor_t* to) {
  *to = reinterpret_cast<cudnnLRNDescriptor_t>(new fake_lrn);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyLRNDescriptor(cudnnLRNDescriptor_t descriptor) {
  delete &form_of(descriptor);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetLRNDescriptor(cudnnLRNDescriptor_t to, unsigned n, double alpha, double beta,
                                    double k) {
  if (n < CUDNN_LRN_MIN_N || n > CUDNN_LRN_MAX_N || k < CUDNN_LRN_MIN_K ||
      beta < CUDNN_LRN_MIN_BETA)
    return CUDNN_STATUS_BAD_PARAM;
  form_of(to) = {n, alpha, beta, k};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnLRNCrossChannelForward(cudnnHandle_t handle, cudnnLRNDescriptor_t norm,
                                          cudnnLRNMode_t, const void* alpha,
                                          cudnnTensorDescriptor_t x_form, const void* x,
                                          const void* beta, cudnnTensorDescriptor_t y_form,
                                          void* y) {
  auto norm_form = form_of(norm);
  auto form = form_of(x_form);
  if (!form.same_extents(form_of(y_form)))
    return CUDNN_STATUS_BAD_PARAM;
  return run_fake(handle, __func__, [=, blend = fake_blend{form, alpha, beta}] {
    form.for_each([&](const place& at) {
      auto position = form.place(at);
      blend.put(form.type, y, position,
                read(form.type, x, position) *
                    std::pow(norm_form.norm(form, x, at), -norm_form.beta));
    });
  });
}

cudnnStatus_t cudnnLRNCrossChannelBackward(cudnnHandle_t handle, cudnnLRNDescriptor_t norm,
                                           cudnnLRNMode_t, const void* alpha,
                                           cudnnTensorDescriptor_t y_form, const void* y,
                                           cudnnTensorDescriptor_t dy_form, const void* dy,
                                           cudnnTensorDescriptor_t x_form, const void* x,
                                           const void* beta, cudnnTensorDescriptor_t dx_form,
                                           void* dx) {
  auto norm_form = form_of(norm);
  auto form = form_of(x_form);
  for (auto other_form : {y_form, dy_form, dx_form})
    if (!form.same_extents(form_of(other_form)))
      return CUDNN_STATUS_BAD_PARAM;
  return run_fake(handle, __func__, [=, blend = fake_blend{form, alpha, beta}] {
    form.for_each([&](const place& at) {
      auto position = form.place(at);
      double shares = 0;
      norm_form.for_each(form, at, [&](const place& near) {
        auto neighbour = form.place(near);
        shares += read(form.type, dy, neighbour) * read(form.type, y, neighbour) /
                  norm_form.norm(form, x, near);
      });
      auto slope = 2 * norm_form.alpha / static_cast<double>(norm_form.n) * norm_form.beta;
      blend.put(form.type, dx, position,
                read(form.type, dy, position) *
                        std::pow(norm_form.norm(form, x, at), -norm_form.beta) -
                    slope * read(form.type, x, position) * shares);
    });
  });
}

cudnnStatus_t cudnnDeriveBNTensorDescriptor(cudnnTensorDescriptor_t to, cudnnTensorDescriptor_t x,
                                            cudnnBatchNormMode_t) {
  auto form = form_of(x);
  const int extents[] = {1, static_cast<int>(form.extents[1]), 1, 1, 1};
  auto type = form.type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  return cudnnSetTensorNdDescriptorEx(to, CUDNN_TENSOR_NCHW, type, form.rank, extents);
}

cudnnStatus_t cudnnBatchNormalizationForwardTraining(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void* alpha, const void* beta,
    cudnnTensorDescriptor_t x_form, const void* x, cudnnTensorDescriptor_t y_form, void* y,
    cudnnTensorDescriptor_t channel_form, const void* scale, const void* offset, double factor,
    void* running_mean, void* running_variance, double epsilon, void* saved_mean,
    void* saved_inverse) {
  auto form = form_of(x_form), channels = form_of(channel_form);
  if (!fit(mode, form, form_of(y_form), channels, epsilon))
    return CUDNN_STATUS_BAD_PARAM;
  return run_fake(handle, __func__, [=, blend = fake_blend{form, alpha, beta}] {
    auto type = channels.type;
    for (int64_t c = 0; c < form.extents[1]; ++c) {
      auto batch = moments_of(form, x, c);
      auto inverse = 1 / std::sqrt(batch.variance + epsilon);
      for_each_of_channel(form, c, [&](int64_t at) {
        blend.put(form.type, y, at,
                  read(type, scale, c) * (read(form.type, x, at) - batch.mean) * inverse +
                      read(type, offset, c));
      });
      auto average = [&](void* running, double batch_value) {
        // 0 times the old value may not be 0: it may be a NaN.
        auto old_weight = running && read(type, running, c) == 0 ? 0 : not_cleared;
        if (running)
          write(type, running, c, old_weight * (1 - factor) + batch_value * factor);
      };
      average(running_mean, batch.mean);
      average(running_variance, batch.variance * batch.count / (batch.count - 1));
      if (saved_mean)
        write(type, saved_mean, c, batch.mean);
      if (saved_inverse)
        write(type, saved_inverse, c, inverse);
    }
  });
}

cudnnStatus_t cudnnBatchNormalizationForwardInference(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void* alpha, const void* beta,
    cudnnTensorDescriptor_t x_form, const void* x, cudnnTensorDescriptor_t y_form, void* y,
    cudnnTensorDescriptor_t channel_form, const void* scale, const void* offset, const void* mean,
    const void* variance, double epsilon) {
  auto form = form_of(x_form), channels = form_of(channel_form);
  if (!fit(mode, form, form_of(y_form), channels, epsilon))
    return CUDNN_STATUS_BAD_PARAM;
  return run_fake(handle, __func__, [=, blend = fake_blend{form, alpha, beta}] {
    auto type = channels.type;
    form.for_each([&](const place& at) {
      auto position = form.place(at), c = at[1];
      auto away = read(form.type, x, position) - read(type, mean, c);
      blend.put(form.type, y, position,
                read(type, scale, c) * away / std::sqrt(epsilon + read(type, variance, c)) +
                    read(type, offset, c));
    });
  });
}

cudnnStatus_t cudnnBatchNormalizationBackward(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void* alpha, const void* beta,
    const void* channel_alpha, const void* channel_beta, cudnnTensorDescriptor_t x_form,
    const void* x, cudnnTensorDescriptor_t dy_form, const void* dy, cudnnTensorDescriptor_t dx_form,
    void* dx, cudnnTensorDescriptor_t channel_form, const void* scale, void* dscale, void* doffset,
    double epsilon, const void* saved_mean, const void* saved_inverse) {
  auto form = form_of(x_form), channels = form_of(channel_form);
  if (!fit(mode, form, form_of(dy_form), channels, epsilon) ||
      !form.same_extents(form_of(dx_form)) || !saved_mean || !saved_inverse)
    return CUDNN_STATUS_BAD_PARAM;
  fake_blend blend{form, alpha, beta}, channel_blend{channels, channel_alpha, channel_beta};
  return run_fake(handle, __func__, [=] {
    auto type = channels.type;
    for (int64_t c = 0; c < form.extents[1]; ++c) {
      auto mean = read(type, saved_mean, c), inverse = read(type, saved_inverse, c);
      double slopes = 0, products = 0, count = 0;
      auto normal = [&](int64_t at) { return (read(form.type, x, at) - mean) * inverse; };
      for_each_of_channel(form, c, [&](int64_t at) {
        slopes += read(form.type, dy, at);
        products += read(form.type, dy, at) * normal(at);
        ++count;
      });
      channel_blend.put(type, dscale, c, products);
      channel_blend.put(type, doffset, c, slopes);
      for_each_of_channel(form, c, [&](int64_t at) {
        auto centered = count * read(form.type, dy, at) - slopes - normal(at) * products;
        blend.put(form.type, dx, at, read(type, scale, c) * inverse / count * centered);
      });
    }
  });
}
