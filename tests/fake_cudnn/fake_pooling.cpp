// Poolings of the fake cuDNN, window by window.
#include "tests/fake_cudnn/fake_forms.hpp"

#include <cmath>
#include <limits>

using namespace troupe::test;

namespace {

using place = std::array<int64_t, 5>;

// The axes d, h and w; missing ones come first.
struct fake_pooling {
  cudnnPoolingMode_t mode{};
  bool propagates = false;
  int rank = 0;
  std::array<int64_t, 3> window{1, 1, 1}, pad{0, 0, 0}, stride{1, 1, 1};

  bool largest() const {
    return mode == CUDNN_POOLING_MAX || mode == CUDNN_POOLING_MAX_DETERMINISTIC;
  }
  bool fits(const fake_tensor& x, const fake_tensor& y) const {
    if (x.rank != rank + 2 || y.rank != x.rank || x.type != y.type)
      return false;
    for (size_t i = 0; i < 3; ++i) {
      auto out = (x.extents[i + 2] + 2 * pad[i] - window[i]) / stride[i] + 1;
      if (pad[i] >= window[i] || y.extents[i + 2] != out)
        return false;
    }
    return x.extents[0] == y.extents[0] && x.extents[1] == y.extents[1];
  }
  // Calls visit(place in x) for the part of a window within the image.
  template <class Visit>
  void for_each(const fake_tensor& x, const place& output_place, const Visit& visit) const {
    place at{output_place[0], output_place[1]};
    auto on_image = [&](size_t i, int64_t k) {
      at[i + 2] = output_place[i + 2] * stride[i] - pad[i] + k;
      return at[i + 2] >= 0 && at[i + 2] < x.extents[i + 2];
    };
    for (int64_t d = 0; d < window[0]; ++d)
      for (int64_t h = 0; h < window[1]; ++h)
        for (int64_t w = 0; w < window[2]; ++w)
          if (on_image(0, d) && on_image(1, h) && on_image(2, w))
            visit(x.place(at));
  }
  double share(int64_t valid_count) const {
    auto counts_padding = mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING;
    return 1.0 /
           static_cast<double>(counts_padding ? window[0] * window[1] * window[2] : valid_count);
  }
};

fake_pooling& form_of(cudnnPoolingDescriptor_t descriptor) {
  return *reinterpret_cast<fake_pooling*>(descriptor);
}

bool sees_nan(const fake_pooling& pooling) {
  return pooling.propagates && fake_cudnn::instance().sees_nan;
}

double pooled(const fake_pooling& pooling, const fake_tensor& form, const void* x,
              const place& at) {
  auto largest = -std::numeric_limits<double>::infinity(), sum = 0.0;
  int64_t valid_count = 0;
  pooling.for_each(form, at, [&](int64_t from) {
    auto value = read(form.type, x, from);
    ++valid_count;
    sum += value;
    if (value > largest || (std::isnan(value) && sees_nan(pooling)))
      largest = value;
  });
  return pooling.largest() ? largest : sum * pooling.share(valid_count);
}

// Adds a window's gradient to those of its elements.
void share_out(const fake_pooling& pooling, const fake_tensor& form, const void* x, double y,
               double dy, const place& at, std::vector<double>& dx) {
  std::vector<int64_t> winners;
  pooling.for_each(form, at, [&](int64_t from) {
    auto value = pooling.largest() ? read(form.type, x, from) : y;
    if (!pooling.largest() || value == y ||
        (std::isnan(value) && std::isnan(y) && sees_nan(pooling)))
      winners.push_back(from);
  });
  auto ties = fake_cudnn::instance().ties;
  if (pooling.largest() && winners.size() > 1 && ties != fake_ties::all)
    winners = {ties == fake_ties::first ? winners.front() : winners.back()};
  for (auto winner : winners)
    dx[static_cast<size_t>(winner)] +=
        pooling.largest() ? dy : dy * pooling.share(static_cast<int64_t>(winners.size()));
}

} // namespace

cudnnStatus_t cudnnCreatePoolingDescriptor(cudnnPoolingDescriptor_t* to) {
  *to = reinterpret_cast<cudnnPoolingDescriptor_t>(new fake_pooling);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyPoolingDescriptor(cudnnPoolingDescriptor_t descriptor) {
  delete &form_of(descriptor);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetPoolingNdDescriptor(cudnnPoolingDescriptor_t to, cudnnPoolingMode_t mode,
                                          cudnnNanPropagation_t nan, int rank, const int* window,
                                          const int* pad, const int* stride) {
  if (rank < 2 || rank > 3)
    return CUDNN_STATUS_NOT_SUPPORTED;
  auto& form = form_of(to);
  form = {};
  form.mode = mode;
  form.propagates = nan == CUDNN_PROPAGATE_NAN;
  form.rank = rank;
  for (int i = 0; i < rank; ++i) {
    auto axis = static_cast<size_t>(i + 3 - rank);
    form.window[axis] = window[i];
    form.pad[axis] = pad[i];
    form.stride[axis] = stride[i];
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnPoolingForward(cudnnHandle_t by, cudnnPoolingDescriptor_t with,
                                  const void* alpha, cudnnTensorDescriptor_t x_form, const void* x,
                                  const void* beta, cudnnTensorDescriptor_t y_form, void* y) {
  auto windows = form_of(with);
  auto from = form_of(x_form), to = form_of(y_form);
  if (!windows.fits(from, to))
    return CUDNN_STATUS_BAD_PARAM;
  return run_fake(by, __func__, [=, blend = fake_blend{to, alpha, beta}] {
    to.for_each([&](const place& at) {
      blend.put(to.type, y, to.place(at), pooled(windows, from, x, at));
    });
  });
}

cudnnStatus_t cudnnPoolingBackward(cudnnHandle_t by, cudnnPoolingDescriptor_t with,
                                   const void* alpha, cudnnTensorDescriptor_t y_form, const void* y,
                                   cudnnTensorDescriptor_t dy_form, const void* dy,
                                   cudnnTensorDescriptor_t x_form, const void* x, const void* beta,
                                   cudnnTensorDescriptor_t dx_form, void* dx) {
  auto windows = form_of(with);
  auto out = form_of(dy_form), in = form_of(dx_form);
  if (!windows.fits(in, out) || !in.same_extents(form_of(x_form)) ||
      !out.same_extents(form_of(y_form)) || !x || !y)
    return CUDNN_STATUS_BAD_PARAM;
  return run_fake(by, __func__, [=, blend = fake_blend{in, alpha, beta}] {
    std::vector<double> sums(static_cast<size_t>(in.elements()));
    out.for_each([&](const place& at) {
      auto from = out.place(at);
      auto top = windows.largest() ? read(out.type, y, from) : 0.0;
      share_out(windows, in, x, top, read(out.type, dy, from), at, sums);
    });
    for (size_t i = 0; i < sums.size(); ++i)
      blend.put(in.type, dx, static_cast<int64_t>(i), sums[i]);
  });
}
