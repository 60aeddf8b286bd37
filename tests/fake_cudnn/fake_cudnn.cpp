#include "tests/fake_cudnn/fake_forms.hpp"

using troupe::test::fake_cudnn;
using troupe::test::fake_handle;
using troupe::test::launch_fake;

namespace {

template <class Algorithm, class Rating>
cudnnStatus_t rate(int max_count, int* count, Rating* to) {
  const auto& algorithms = fake_cudnn::instance().algorithms;
  for (*count = 0; *count < max_count && *count < static_cast<int>(algorithms.size()); ++*count) {
    auto& rating = to[*count];
    rating.algo = static_cast<Algorithm>(*count);
    rating.status = CUDNN_STATUS_SUCCESS;
    rating.determinism = algorithms[static_cast<size_t>(*count)].deterministic
                             ? CUDNN_DETERMINISTIC
                             : CUDNN_NON_DETERMINISTIC;
    rating.mathType = CUDNN_DEFAULT_MATH;
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t size_workspace(int algorithm, size_t* bytes) {
  *bytes = fake_cudnn::instance().algorithms[static_cast<size_t>(algorithm)].workspace;
  return CUDNN_STATUS_SUCCESS;
}

} // namespace

cudnnStatus_t troupe::test::launch_fake(cudnnHandle_t handle, int algorithm, void* workspace,
                                        size_t bytes, void* result) {
  const auto& fake = fake_cudnn::instance();
  const auto& chosen = fake.algorithms[static_cast<size_t>(algorithm)];
  if (!chosen.works || bytes < chosen.workspace || (bytes > 0 && !workspace))
    return CUDNN_STATUS_NOT_SUPPORTED;
  fake.launch(reinterpret_cast<fake_handle*>(handle)->stream, algorithm, result, workspace);
  return CUDNN_STATUS_SUCCESS;
}

fake_cudnn& fake_cudnn::instance() {
  static fake_cudnn singleton;
  return singleton;
}

// The part of cudnn.h that computes convolutions.

const char* cudnnGetErrorString(cudnnStatus_t) { return "the fake refuses it"; }

cudnnStatus_t cudnnCreate(cudnnHandle_t* to) {
  *to = reinterpret_cast<cudnnHandle_t>(new fake_handle);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete reinterpret_cast<fake_handle*>(handle);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t to) {
  reinterpret_cast<fake_handle*>(handle)->stream = to;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t, const cudnnTensorDescriptor_t,
                                                     const cudnnFilterDescriptor_t,
                                                     const cudnnConvolutionDescriptor_t,
                                                     const cudnnTensorDescriptor_t, const int most,
                                                     int* count,
                                                     cudnnConvolutionFwdAlgoPerf_t* to) {
  return rate<cudnnConvolutionFwdAlgo_t>(most, count, to);
}
cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(cudnnHandle_t, const cudnnTensorDescriptor_t,
                                                      const cudnnFilterDescriptor_t,
                                                      const cudnnConvolutionDescriptor_t,
                                                      const cudnnTensorDescriptor_t,
                                                      cudnnConvolutionFwdAlgo_t with,
                                                      size_t* bytes) {
  return size_workspace(with, bytes);
}
cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
    cudnnHandle_t, const cudnnFilterDescriptor_t, const cudnnTensorDescriptor_t,
    const cudnnConvolutionDescriptor_t, const cudnnTensorDescriptor_t, const int most, int* count,
    cudnnConvolutionBwdDataAlgoPerf_t* to) {
  return rate<cudnnConvolutionBwdDataAlgo_t>(most, count, to);
}
cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(
    cudnnHandle_t, const cudnnFilterDescriptor_t, const cudnnTensorDescriptor_t,
    const cudnnConvolutionDescriptor_t, const cudnnTensorDescriptor_t,
    cudnnConvolutionBwdDataAlgo_t with, size_t* bytes) {
  return size_workspace(with, bytes);
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t, const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t,
    const cudnnConvolutionDescriptor_t, const cudnnFilterDescriptor_t, const int most, int* count,
    cudnnConvolutionBwdFilterAlgoPerf_t* to) {
  return rate<cudnnConvolutionBwdFilterAlgo_t>(most, count, to);
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t, const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t,
    const cudnnConvolutionDescriptor_t, const cudnnFilterDescriptor_t,
    cudnnConvolutionBwdFilterAlgo_t with, size_t* bytes) {
  return size_workspace(with, bytes);
}
