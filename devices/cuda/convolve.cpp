#include "troupe/devices/cuda/convolve.hpp"

#include "troupe/devices/cuda/libraries.hpp"

#if __has_include(<cudnn.h>)
#include <cudnn.h>

#include <algorithm>
#include <map>
#include <vector>

namespace troupe::gpu {
namespace {

TROUPE_LIBRARY_FUNCTION(cudnn, cudnnCreate);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnDestroy);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnSetStream);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnCreateTensorDescriptor);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnDestroyTensorDescriptor);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnSetTensorNdDescriptorEx);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnCreateFilterDescriptor);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnDestroyFilterDescriptor);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnSetFilterNdDescriptor);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnCreateConvolutionDescriptor);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnDestroyConvolutionDescriptor);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnSetConvolutionNdDescriptor);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnSetConvolutionGroupCount);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnSetConvolutionMathType);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnGetConvolutionForwardAlgorithm_v7);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnGetConvolutionForwardWorkspaceSize);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnConvolutionForward);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnGetConvolutionBackwardDataAlgorithm_v7);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnGetConvolutionBackwardDataWorkspaceSize);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnConvolutionBackwardData);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnGetConvolutionBackwardFilterAlgorithm_v7);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnGetConvolutionBackwardFilterWorkspaceSize);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnConvolutionBackwardFilter);

using tensor_form = library_object<cudnnTensorDescriptor_t, cudnnDestroyTensorDescriptor>;
using filter_form = library_object<cudnnFilterDescriptor_t, cudnnDestroyFilterDescriptor>;
using window_form = library_object<cudnnConvolutionDescriptor_t, cudnnDestroyConvolutionDescriptor>;

constexpr size_t most_workspace = size_t{1} << 30;
constexpr size_t most_plans = 1024; // remembered; all are forgotten when there are more

// One of cuDNN's algorithms for a convolution.
struct candidate {
  int algorithm;
  cudnnMathType_t math;
  size_t workspace;
};

struct plan {
  tensor_form input, output;
  filter_form filter;
  window_form windows;
  std::vector<candidate> candidates; // the best first
};

struct question {
  convolution of;
  bool rounds;
  auto operator<=>(const question&) const = default;
};

// A device's. A handle is used by one thread at a time.
struct convolver {
  ~convolver() {
    if (handle && of->make_current()) {
      plans.clear();
      static_cast<void>(cudnnDestroy(handle));
    }
  }

  driver* of = nullptr;
  std::mutex mutex;
  cudnnHandle_t handle = nullptr;
  std::map<question, plan> plans;
};

result<std::shared_ptr<convolver>> make_convolver(gpu_device& on) {
  auto made = std::make_shared<convolver>();
  made->of = &on.driver();
  TROUPE_TRY(cudnnCreate(&made->handle));
  return made;
}

cudnnDataType_t element_type(dtype type) {
  switch (type) {
    case dtype::f16: return CUDNN_DATA_HALF;
    case dtype::bf16: return CUDNN_DATA_BFLOAT16;
    case dtype::f64: return CUDNN_DATA_DOUBLE;
    default: return CUDNN_DATA_FLOAT;
  }
}

cudnnMathType_t math_of(const question& asked) {
  switch (asked.of.type) {
    case dtype::f32: return asked.rounds ? CUDNN_TENSOR_OP_MATH : CUDNN_FMA_MATH;
    case dtype::f64: return CUDNN_DEFAULT_MATH;
    default: return CUDNN_TENSOR_OP_MATH;
  }
}

// Extents as cuDNN counts them: the channels behind the images, wherever they are in memory.
using extents = std::array<int, 5>;
extents extents_of(const convolution& of, int64_t first, int64_t second,
                   int64_t convolution::axis::*extent) {
  extents made{static_cast<int>(first), static_cast<int>(second)};
  for (size_t i = 0; i < static_cast<size_t>(of.spatial); ++i)
    made[i + 2] = static_cast<int>(of.axes[3 - static_cast<size_t>(of.spatial) + i].*extent);
  return made;
}

status fits(const convolution& of) {
  auto small = [](int64_t extent) { return extent <= INT32_MAX; };
  auto all = small(of.images) && small(of.in_channels) && small(of.out_channels);
  for (const auto& axis : of.axes)
    all = all && small(axis.in) && small(axis.out) && small(axis.size) && small(axis.stride) &&
          small(axis.dilation) && small(axis.pad);
  if (all)
    return {};
  return failure(error_kind::unimplemented, "cuDNN takes extents of 32 bits");
}

status describe(const question& asked, plan& into) {
  const auto& of = asked.of;
  TROUPE_TRY(fits(of));
  auto type = element_type(of.type);
  auto format = of.channels_last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
  auto rank = of.spatial + 2;
  using axis = convolution::axis;
  auto input = extents_of(of, of.images, of.in_channels, &axis::in);
  auto output = extents_of(of, of.images, of.out_channels, &axis::out);
  auto filter = extents_of(of, of.out_channels, of.in_channels / of.groups, &axis::size);
  auto pads = extents_of(of, 0, 0, &axis::pad), strides = extents_of(of, 0, 0, &axis::stride),
       dilations = extents_of(of, 0, 0, &axis::dilation);
  TROUPE_TRY(cudnnCreateTensorDescriptor(into.input.out()));
  TROUPE_TRY(cudnnCreateTensorDescriptor(into.output.out()));
  TROUPE_TRY(cudnnCreateFilterDescriptor(into.filter.out()));
  TROUPE_TRY(cudnnCreateConvolutionDescriptor(into.windows.out()));
  TROUPE_TRY(cudnnSetTensorNdDescriptorEx(into.input.get(), format, type, rank, input.data()));
  TROUPE_TRY(cudnnSetTensorNdDescriptorEx(into.output.get(), format, type, rank, output.data()));
  TROUPE_TRY(cudnnSetFilterNdDescriptor(into.filter.get(), type, format, rank, filter.data()));
  TROUPE_TRY(cudnnSetConvolutionNdDescriptor(
      into.windows.get(), of.spatial, pads.data() + 2, strides.data() + 2, dilations.data() + 2,
      CUDNN_CROSS_CORRELATION, of.type == dtype::f64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT));
  TROUPE_TRY(cudnnSetConvolutionGroupCount(into.windows.get(), static_cast<int>(of.groups)));
  return cudnnSetConvolutionMathType(into.windows.get(), math_of(asked));
}

// What the library rates, the best first; those that work and give the same results each time.
template <class Rating, class Rate, class Size>
status rate(plan& into, const question& asked, Rate rate, Size workspace_of) {
  Rating ratings[16];
  int count = 0;
  TROUPE_TRY(rate(16, &count, ratings));
  for (const auto& one : std::span{ratings, static_cast<size_t>(count)}) {
    if (one.status != CUDNN_STATUS_SUCCESS || one.determinism != CUDNN_DETERMINISTIC)
      continue;
    // Where operands must not be rounded, what the library would like to do does not count.
    auto math = asked.of.type == dtype::f32 && !asked.rounds ? CUDNN_FMA_MATH : one.mathType;
    size_t bytes = 0;
    if (cudnnSetConvolutionMathType(into.windows.get(), math) && workspace_of(one.algo, &bytes) &&
        bytes <= most_workspace)
      into.candidates.push_back({static_cast<int>(one.algo), math, bytes});
  }
  return {};
}

status find_candidates(cudnnHandle_t handle, const question& asked, plan& into) {
  auto *x = into.input.get(), *y = into.output.get();
  auto* filter = into.filter.get();
  auto* windows = into.windows.get();
  switch (asked.of.computes) {
    case convolved::output:
      return rate<cudnnConvolutionFwdAlgoPerf_t>(
          into, asked,
          [&](int most, int* count, auto* to) {
            return cudnnGetConvolutionForwardAlgorithm_v7(handle, x, filter, windows, y, most,
                                                          count, to);
          },
          [&](auto algorithm, size_t* bytes) {
            return cudnnGetConvolutionForwardWorkspaceSize(handle, x, filter, windows, y, algorithm,
                                                           bytes);
          });
    case convolved::input:
      return rate<cudnnConvolutionBwdDataAlgoPerf_t>(
          into, asked,
          [&](int most, int* count, auto* to) {
            return cudnnGetConvolutionBackwardDataAlgorithm_v7(handle, filter, y, windows, x, most,
                                                               count, to);
          },
          [&](auto algorithm, size_t* bytes) {
            return cudnnGetConvolutionBackwardDataWorkspaceSize(handle, filter, y, windows, x,
                                                                algorithm, bytes);
          });
    default:
      return rate<cudnnConvolutionBwdFilterAlgoPerf_t>(
          into, asked,
          [&](int most, int* count, auto* to) {
            return cudnnGetConvolutionBackwardFilterAlgorithm_v7(handle, x, y, windows, filter,
                                                                 most, count, to);
          },
          [&](auto algorithm, size_t* bytes) {
            return cudnnGetConvolutionBackwardFilterWorkspaceSize(handle, x, y, windows, filter,
                                                                  algorithm, bytes);
          });
  }
}

status unsupported(const convolution& of, const status& why) {
  return failure(error_kind::unimplemented, "cuDNN does not compute this convolution of ", of.type,
                 " with channels ", of.channels_last ? "last" : "first", why ? "" : ": ",
                 why ? "" : why.message());
}

result<plan*> plan_of(convolver& by, const question& asked) {
  if (auto known = by.plans.find(asked); known != by.plans.end())
    return &known->second;
  plan made;
  // What cuDNN says to a form that it does not take depends on its version.
  if (auto described = describe(asked, made); !described)
    return described.kind() == error_kind::internal ? unsupported(asked.of, described) : described;
  if (auto found = find_candidates(by.handle, asked, made); !found)
    return found.kind() == error_kind::internal ? unsupported(asked.of, found) : found;
  if (by.plans.size() >= most_plans)
    by.plans.clear();
  return &by.plans.insert_or_assign(asked, std::move(made)).first->second;
}

struct operands {
  void *input, *filter, *output;
};

status launch(cudnnHandle_t handle, const convolution& of, const plan& by, const candidate& with,
              const operands& in, void* workspace) {
  const float one = 1, zero = 0;
  const double one_double = 1, zero_double = 0;
  auto wide = of.type == dtype::f64;
  const auto *alpha = wide ? static_cast<const void*>(&one_double) : &one,
             *beta = wide ? static_cast<const void*>(&zero_double) : &zero;
  auto *x = by.input.get(), *y = by.output.get();
  auto* filter = by.filter.get();
  auto* windows = by.windows.get();
  TROUPE_TRY(cudnnSetConvolutionMathType(windows, with.math));
  switch (of.computes) {
    case convolved::output:
      return cudnnConvolutionForward(handle, alpha, x, in.input, filter, in.filter, windows,
                                     static_cast<cudnnConvolutionFwdAlgo_t>(with.algorithm),
                                     workspace, with.workspace, beta, y, in.output);
    case convolved::input:
      return cudnnConvolutionBackwardData(
          handle, alpha, filter, in.filter, y, in.output, windows,
          static_cast<cudnnConvolutionBwdDataAlgo_t>(with.algorithm), workspace, with.workspace,
          beta, x, in.input);
    default:
      return cudnnConvolutionBackwardFilter(
          handle, alpha, x, in.input, y, in.output, windows,
          static_cast<cudnnConvolutionBwdFilterAlgo_t>(with.algorithm), workspace, with.workspace,
          beta, filter, in.filter);
  }
}

} // namespace

status convolve(gpu_device& on, allocator& memory, const convolution& what, void* input,
                void* filter, void* output) {
  TROUPE_TRY(on.driver().make_current());
  TROUPE_ASSIGN(auto* by, on.kept<convolver>(make_convolver));
  question asked{what, what.type == dtype::f32 && on.rounds_operands()};
  std::lock_guard guard{by->mutex};
  // Who makes a recording launches elsewhere than others.
  TROUPE_TRY(cudnnSetStream(by->handle, reinterpret_cast<cudaStream_t>(on.compute())));
  TROUPE_ASSIGN(auto* found, plan_of(*by, asked));
  status outcome;
  // What is refused when it is launched is not tried again.
  for (auto& left = found->candidates; !left.empty(); left.erase(left.begin())) {
    const auto& first = left.front();
    tensor workspace;
    if (first.workspace > 0) {
      auto room = tensor::make(dtype::u8, shape{static_cast<int64_t>(first.workspace)}, memory);
      if (!room && left.size() == 1)
        return room.status();
      if (!room)
        continue;
      workspace = *std::move(room);
    }
    outcome = launch(by->handle, what, *found, first, {input, filter, output},
                     first.workspace > 0 ? workspace.raw() : nullptr);
    if (outcome)
      return {};
  }
  return unsupported(what, outcome);
}

} // namespace troupe::gpu

#else

namespace troupe::gpu {

status convolve(gpu_device&, allocator&, const convolution&, void*, void*, void*) {
  return failure(error_kind::failed_precondition,
                 "was built without cuDNN's headers: build again where they are installed, or put "
                 "the node on /cpu:0");
}

} // namespace troupe::gpu

#endif
