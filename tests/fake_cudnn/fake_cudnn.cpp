#include "tests/fake_cudnn/fake_forms.hpp"

using troupe::test::fake_cudnn;
using troupe::test::fake_handle;
using troupe::test::launch_fake;

namespace {

template <class Algorithm, class Rating>
cudnnStatus_t rate(int most, int* count, Rating* to) {
  const auto& all = fake_cudnn::instance().algorithms;
  for (*count = 0; *count < most && *count < static_cast<int>(all.size()); ++*count) {
    auto& one = to[*count];
    one.algo = static_cast<Algorithm>(*count);
    one.status = CUDNN_STATUS_SUCCESS;
    one.determinism = all[static_cast<size_t>(*count)].deterministic ? CUDNN_DETERMINISTIC
                                                                     : CUDNN_NON_DETERMINISTIC;
    one.mathType = CUDNN_DEFAULT_MATH;
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t size_workspace(int algorithm, size_t* bytes) {
  *bytes = fake_cudnn::instance().algorithms[static_cast<size_t>(algorithm)].workspace;
  return CUDNN_STATUS_SUCCESS;
}

} // namespace

cudnnStatus_t troupe::test::launch_fake(cudnnHandle_t by, int algorithm, void* workspace,
                                        size_t bytes, void* result) {
  const auto& fake = fake_cudnn::instance();
  const auto& with = fake.algorithms[static_cast<size_t>(algorithm)];
  if (!with.works || bytes < with.workspace || (bytes > 0 && !workspace))
    return CUDNN_STATUS_NOT_SUPPORTED;
  fake.launch(reinterpret_cast<fake_handle*>(by)->stream, algorithm, result, workspace);
  return CUDNN_STATUS_SUCCESS;
}

fake_cudnn& fake_cudnn::instance() {
  static fake_cudnn one;
  return one;
}

// What cudnn.h declares, as far as convolutions are computed with it.

const char* cudnnGetErrorString(cudnnStatus_t) { return "the fake refuses it"; }

cudnnStatus_t cudnnCreate(cudnnHandle_t* to) {
  *to = reinterpret_cast<cudnnHandle_t>(new fake_handle);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t what) {
  delete reinterpret_cast<fake_handle*>(what);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t of, cudaStream_t to) {
  reinterpret_cast<fake_handle*>(of)->stream = to;
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
