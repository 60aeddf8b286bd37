// Convolutions and their gradients, and those with a bias and an activation, as their descriptors
// specify.
#include "tests/fake_cudnn/fake_forms.hpp"

#include <algorithm>

using namespace troupe::test;

namespace {

struct fake_windows {
  int spatial = 0;
  std::array<int64_t, 3> pads{}, strides{1, 1, 1}, dilations{1, 1, 1};
  int64_t groups = 1;
};

struct fake_end {
  cudnnActivationMode_t mode = CUDNN_ACTIVATION_IDENTITY;
  bool nan_stays = false;
};

// Filters are [outputs, inputs of a group, d, h, w], stored as the axes of a tensor.
fake_tensor& form_of(cudnnFilterDescriptor_t descriptor) {
  return *reinterpret_cast<fake_tensor*>(descriptor);
}
fake_windows& form_of(cudnnConvolutionDescriptor_t descriptor) {
  return *reinterpret_cast<fake_windows*>(descriptor);
}
fake_end& form_of(cudnnActivationDescriptor_t descriptor) {
  return *reinterpret_cast<fake_end*>(descriptor);
}

// Input, filter and output, one of which is written.
struct convolution {
  fake_tensor x, w, y;
  fake_windows windows;
  const void *input = nullptr, *filter = nullptr, *output = nullptr;
  const void* bias = nullptr;
  fake_end end = {};

  bool fits() const {
    if (x.type != y.type || w.type != x.type || x.rank != y.rank || w.rank != x.rank ||
        windows.spatial + 2 != x.rank || y.extents[0] != x.extents[0] ||
        y.extents[1] != w.extents[0] || x.extents[1] != w.extents[1] * windows.groups ||
        w.extents[0] % windows.groups != 0)
      return false;
    for (size_t i = 0; i < 3; ++i) {
      auto reach = (w.extents[i + 2] - 1) * windows.dilations[i] + 1;
      auto room = x.extents[i + 2] + 2 * windows.pads[i] - reach;
      if (room < 0 || y.extents[i + 2] != room / windows.strides[i] + 1)
        return false;
    }
    return true;
  }

  // Calls visit(x, w, y) with the positions of the elements of each product.
  template <class Visit>
  void for_each_product(const Visit& visit) const {
    auto of_one_channel = w;
    of_one_channel.extents[0] = 1;
    y.for_each([&](const std::array<int64_t, 5>& at) {
      auto group = at[1] / (w.extents[0] / windows.groups);
      of_one_channel.for_each([&](std::array<int64_t, 5> k) {
        std::array<int64_t, 5> from{at[0], group * w.extents[1] + k[1]};
        for (size_t i = 2; i < 5; ++i) {
          from[i] = at[i] * windows.strides[i - 2] - windows.pads[i - 2] +
                    k[i] * windows.dilations[i - 2];
          if (from[i] < 0 || from[i] >= x.extents[i])
            return;
        }
        k[0] = at[1];
        visit(static_cast<size_t>(x.place(from)), static_cast<size_t>(w.place(k)),
              static_cast<size_t>(y.place(at)));
      });
    });
  }

  double value(const fake_tensor& form, const void* from, size_t place) const {
    return read(form.type, from, static_cast<int64_t>(place));
  }

  void compute_output(void* to) const {
    std::vector<double> sums(static_cast<size_t>(y.elements()));
    for_each_product([&](size_t of_x, size_t of_w, size_t of_y) {
      sums[of_y] += value(x, input, of_x) * value(w, filter, of_w);
    });
    y.for_each([&](const std::array<int64_t, 5>& at) {
      auto sum = sums[static_cast<size_t>(y.place(at))] + (bias ? read(y.type, bias, at[1]) : 0);
      if (end.mode == CUDNN_ACTIVATION_RELU && !(end.nan_stays && sum != sum))
        sum = std::max(sum, 0.0);
      write(y.type, to, y.place(at), sum);
    });
  }

  void compute_input(void* to) const {
    std::vector<double> sums(static_cast<size_t>(x.elements()));
    for_each_product([&](size_t of_x, size_t of_w, size_t of_y) {
      sums[of_x] += value(y, output, of_y) * value(w, filter, of_w);
    });
    for (size_t i = 0; i < sums.size(); ++i)
      write(x.type, to, static_cast<int64_t>(i), sums[i]);
  }

  void compute_filter(void* to) const {
    std::vector<double> sums(static_cast<size_t>(w.elements()));
    for_each_product([&](size_t of_x, size_t of_w, size_t of_y) {
      sums[of_w] += value(x, input, of_x) * value(y, output, of_y);
    });
    for (size_t i = 0; i < sums.size(); ++i)
      write(w.type, to, static_cast<int64_t>(i), sums[i]);
  }
};

using computation = void (convolution::*)(void* to) const;

struct given_workspace {
  void* memory;
  size_t bytes;
};

cudnnStatus_t run(cudnnHandle_t handle, const char* function, const convolution& geometry,
                  computation compute, void* to, int algorithm, given_workspace room) {
  const auto& chosen = fake_cudnn::instance().algorithms[static_cast<size_t>(algorithm)];
  if (!geometry.fits())
    return CUDNN_STATUS_BAD_PARAM;
  if (!chosen.works || (geometry.bias && !chosen.joins) || room.bytes < chosen.workspace ||
      (room.bytes > 0 && !room.memory))
    return CUDNN_STATUS_NOT_SUPPORTED;
  return run_fake(handle, function, [=] { (geometry.*compute)(to); });
}

// Whether the factors have these values; they are doubles for doubles, otherwise floats.
bool are(const fake_tensor& form, const void* alpha, double one, const void* beta, double zero) {
  fake_blend factors{form, alpha, beta};
  return factors.alpha == one && factors.beta == zero;
}

} // namespace

cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* to) {
  *to = reinterpret_cast<cudnnFilterDescriptor_t>(new fake_tensor);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t descriptor) {
  delete &form_of(descriptor);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t to, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int rank, const int* extents) {
  return cudnnSetTensorNdDescriptorEx(reinterpret_cast<cudnnTensorDescriptor_t>(to), format, type,
                                      rank, extents);
}

cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* to) {
  *to = reinterpret_cast<cudnnConvolutionDescriptor_t>(new fake_windows);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t descriptor) {
  delete &form_of(descriptor);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t to, int spatial,
                                              const int* pads, const int* strides,
                                              const int* dilations, cudnnConvolutionMode_t mode,
                                              cudnnDataType_t) {
  if (mode != CUDNN_CROSS_CORRELATION)
    return CUDNN_STATUS_NOT_SUPPORTED;
  auto& form = form_of(to);
  form.spatial = spatial;
  for (int i = 0; i < spatial; ++i) {
    auto axis = static_cast<size_t>(3 - spatial + i);
    form.pads[axis] = pads[i];
    form.strides[axis] = strides[i];
    form.dilations[axis] = dilations[i];
  }
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t to, int groups) {
  form_of(to).groups = groups;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t, cudnnMathType_t) {
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateActivationDescriptor(cudnnActivationDescriptor_t* to) {
  *to = reinterpret_cast<cudnnActivationDescriptor_t>(new fake_end);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyActivationDescriptor(cudnnActivationDescriptor_t descriptor) {
  delete &form_of(descriptor);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetActivationDescriptor(cudnnActivationDescriptor_t to,
                                           cudnnActivationMode_t mode,
                                           cudnnNanPropagation_t with_nan, double) {
  form_of(to) = {mode, with_nan == CUDNN_PROPAGATE_NAN};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t by, const void* alpha,
                                      const cudnnTensorDescriptor_t of_x, const void* x,
                                      const cudnnFilterDescriptor_t of_w, const void* w,
                                      const cudnnConvolutionDescriptor_t windows,
                                      cudnnConvolutionFwdAlgo_t with, void* workspace, size_t bytes,
                                      const void* beta, const cudnnTensorDescriptor_t of_y,
                                      void* y) {
  if (fake_cudnn::instance().launch)
    return launch_fake(by, with, workspace, bytes, y);
  if (!are(form_of(of_y), alpha, 1, beta, 0))
    return CUDNN_STATUS_BAD_PARAM;
  return run(by, "cudnnConvolutionForward",
             {.x = form_of(of_x),
              .w = form_of(of_w),
              .y = form_of(of_y),
              .windows = form_of(windows),
              .input = x,
              .filter = w},
             &convolution::compute_output, y, with, {workspace, bytes});
}

cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t by, const void* alpha,
                                           const cudnnFilterDescriptor_t of_w, const void* w,
                                           const cudnnTensorDescriptor_t of_y, const void* y,
                                           const cudnnConvolutionDescriptor_t windows,
                                           cudnnConvolutionBwdDataAlgo_t with, void* workspace,
                                           size_t bytes, const void* beta,
                                           const cudnnTensorDescriptor_t of_x, void* x) {
  if (fake_cudnn::instance().launch)
    return launch_fake(by, with, workspace, bytes, x);
  if (!are(form_of(of_x), alpha, 1, beta, 0))
    return CUDNN_STATUS_BAD_PARAM;
  return run(by, "cudnnConvolutionBackwardData",
             {.x = form_of(of_x),
              .w = form_of(of_w),
              .y = form_of(of_y),
              .windows = form_of(windows),
              .filter = w,
              .output = y},
             &convolution::compute_input, x, with, {workspace, bytes});
}

cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t by, const void* alpha,
                                             const cudnnTensorDescriptor_t of_x, const void* x,
                                             const cudnnTensorDescriptor_t of_y, const void* y,
                                             const cudnnConvolutionDescriptor_t windows,
                                             cudnnConvolutionBwdFilterAlgo_t with, void* workspace,
                                             size_t bytes, const void* beta,
                                             const cudnnFilterDescriptor_t of_w, void* w) {
  if (fake_cudnn::instance().launch)
    return launch_fake(by, with, workspace, bytes, w);
  if (!are(form_of(of_w), alpha, 1, beta, 0))
    return CUDNN_STATUS_BAD_PARAM;
  return run(by, "cudnnConvolutionBackwardFilter",
             {.x = form_of(of_x),
              .w = form_of(of_w),
              .y = form_of(of_y),
              .windows = form_of(windows),
              .input = x,
              .output = y},
             &convolution::compute_filter, w, with, {workspace, bytes});
}

// y = act(alpha1 * conv(x) + alpha2 * z + bias)
cudnnStatus_t cudnnConvolutionBiasActivationForward(
    cudnnHandle_t by, const void* alpha1, const cudnnTensorDescriptor_t of_x, const void* x,
    const cudnnFilterDescriptor_t of_w, const void* w, const cudnnConvolutionDescriptor_t windows,
    cudnnConvolutionFwdAlgo_t with, void* workspace, size_t bytes, const void* alpha2,
    const cudnnTensorDescriptor_t of_z, const void* z, const cudnnTensorDescriptor_t of_bias,
    const void* bias, const cudnnActivationDescriptor_t end, const cudnnTensorDescriptor_t of_y,
    void* y) {
  const auto &form = form_of(of_y), &channels = form_of(of_bias);
  auto fits = are(form, alpha1, 1, alpha2, 0) && z && form_of(of_z).same_extents(form) && bias &&
              channels.type == form.type && channels.elements() == form.extents[1] &&
              channels.extents[1] == form.extents[1] && channels.rank == form.rank;
  if (!fits)
    return CUDNN_STATUS_BAD_PARAM;
  if (form_of(end).mode == CUDNN_ACTIVATION_IDENTITY &&
      with != CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM)
    return CUDNN_STATUS_NOT_SUPPORTED;
  return run(by, "cudnnConvolutionBiasActivationForward",
             {.x = form_of(of_x),
              .w = form_of(of_w),
              .y = form,
              .windows = form_of(windows),
              .input = x,
              .filter = w,
              .bias = bias,
              .end = form_of(end)},
             &convolution::compute_output, y, with, {workspace, bytes});
}
