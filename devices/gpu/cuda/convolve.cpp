#include "troupe/devices/gpu/cuda/convolve.hpp"

#include "troupe/devices/gpu/core/autotuner.hpp"
#include "troupe/devices/gpu/core/graph_capture.hpp"
#include "troupe/devices/gpu/core/time_launches.hpp"
#include "troupe/devices/gpu/cuda/libraries.hpp"

namespace troupe::gpu {
namespace {

struct convolution_choice {
  bool measured = true;
};

result<std::shared_ptr<convolution_choice>> make_default_choice(gpu_device&) {
  return std::make_shared<convolution_choice>();
}

} // namespace

void measure_convolutions(gpu_device& target, bool enabled) {
  if (auto choice = target.get_or_make<convolution_choice>(make_default_choice))
    (*choice)->measured = enabled;
}

} // namespace troupe::gpu

#if __has_include(<cudnn.h>)
#include "troupe/devices/gpu/cuda/convolution_engines.hpp"
#include "troupe/devices/gpu/cuda/cudnn.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <vector>

namespace troupe::gpu {
namespace {

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
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnConvolutionBiasActivationForward);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnCreateActivationDescriptor);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnDestroyActivationDescriptor);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnSetActivationDescriptor);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnGetConvolutionBackwardDataAlgorithm_v7);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnGetConvolutionBackwardDataWorkspaceSize);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnConvolutionBackwardData);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnGetConvolutionBackwardFilterAlgorithm_v7);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnGetConvolutionBackwardFilterWorkspaceSize);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnConvolutionBackwardFilter);

using filter_form = library_object<cudnnFilterDescriptor_t, cudnnDestroyFilterDescriptor>;
using window_form = library_object<cudnnConvolutionDescriptor_t, cudnnDestroyConvolutionDescriptor>;
using end_form = library_object<cudnnActivationDescriptor_t, cudnnDestroyActivationDescriptor>;

using namespace std::chrono_literals;

constexpr auto max_wait = 10s; // for earlier launches of the device
constexpr size_t max_workspace = size_t{1} << 30;
// Workspace of trials is released if it exceeds that of the chosen algorithm by these bytes.
constexpr size_t worth_returning = size_t{64} << 20;
constexpr size_t max_plans = 1024; // beyond, all are forgotten
constexpr size_t max_engines = 8;  // of a plan: more would take long to try
// If there are engines, the number of older algorithms that are tried beside them.
constexpr size_t max_beside_engines = 2;
constexpr int first_engine = 1000; // algorithm::number of the first engine; lower: the library's

// How an algorithm is launched (algorithm::form).
enum : int {
  alone,
  joined, // with the bias
  apart   // the bias is added by another launch
};

struct plan {
  tensor_form input, output, bias;
  filter_form filter;
  window_form windows;
  end_form end;
  std::vector<convolution_engine> engines;
  std::vector<algorithm> candidates; // best first
  bool ordered = false;              // the order is final
};

struct question {
  convolution problem;
  bool rounds, biased, rectifies;
  auto operator<=>(const question&) const = default;
};

// Equal GPUs share the answer.
struct measured_question {
  std::string gpu;
  question asked;
  auto operator<=>(const measured_question&) const = default;
};

// Shared by all devices and sessions of a process, as the libraries are.
autotuner<measured_question>& tuner() {
  static autotuner<measured_question> shared_tuner;
  return shared_tuner;
}

// The plans of a device.
struct convolver {
  std::mutex mutex;
  std::map<question, plan> plans;
};

result<std::shared_ptr<convolver>> make_convolver(gpu_device&) {
  return std::make_shared<convolver>();
}

cudnnMathType_t math_of(const question& asked) {
  switch (asked.problem.type) {
    case dtype::f32: return asked.rounds ? CUDNN_TENSOR_OP_MATH : CUDNN_FMA_MATH;
    case dtype::f64: return CUDNN_DEFAULT_MATH;
    default: return CUDNN_TENSOR_OP_MATH;
  }
}

// Extents in cuDNN's order: the channels after the images, whatever the memory layout.
using extents = std::array<int, 5>;
extents extents_of(const convolution& problem, int64_t first, int64_t second,
                   int64_t convolution::axis::*extent) {
  extents result_extents{static_cast<int>(first), static_cast<int>(second)};
  for (size_t i = 0; i < static_cast<size_t>(problem.spatial); ++i)
    result_extents[i + 2] =
        static_cast<int>(problem.axes[3 - static_cast<size_t>(problem.spatial) + i].*extent);
  return result_extents;
}

status fits(const convolution& problem) {
  auto small = [](int64_t extent) { return extent <= INT32_MAX; };
  auto fit = small(problem.images) && small(problem.in_channels) && small(problem.out_channels);
  for (const auto& axis : problem.axes)
    fit = fit && small(axis.in) && small(axis.out) && small(axis.size) && small(axis.stride) &&
          small(axis.dilation) && small(axis.pad);
  if (fit)
    return {};
  return failure(error_kind::unimplemented, "cuDNN takes extents of 32 bits");
}

status describe_end(const question& asked, plan& form) {
  const auto& problem = asked.problem;
  extents channels{1, static_cast<int>(problem.out_channels), 1, 1, 1};
  TROUPE_TRY(cudnnCreateTensorDescriptor(form.bias.out()));
  TROUPE_TRY(cudnnSetTensorNdDescriptorEx(form.bias.get(), CUDNN_TENSOR_NCHW,
                                          element_type(problem.type), problem.spatial + 2,
                                          channels.data()));
  TROUPE_TRY(cudnnCreateActivationDescriptor(form.end.out()));
  // Versions of cuDNN without a Relu that keeps NaN fail here, and the Relu is launched apart.
  return asked.rectifies ? cudnnSetActivationDescriptor(form.end.get(), CUDNN_ACTIVATION_RELU,
                                                        CUDNN_PROPAGATE_NAN, 0)
                         : cudnnSetActivationDescriptor(form.end.get(), CUDNN_ACTIVATION_IDENTITY,
                                                        CUDNN_NOT_PROPAGATE_NAN, 0);
}

status describe(const question& asked, plan& form) {
  const auto& problem = asked.problem;
  TROUPE_TRY(fits(problem));
  auto type = element_type(problem.type);
  auto format = problem.channels_last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
  auto rank = static_cast<size_t>(problem.spatial) + 2;
  using axis = convolution::axis;
  auto input = extents_of(problem, problem.images, problem.in_channels, &axis::in);
  auto output = extents_of(problem, problem.images, problem.out_channels, &axis::out);
  auto filter =
      extents_of(problem, problem.out_channels, problem.in_channels / problem.groups, &axis::size);
  auto pads = extents_of(problem, 0, 0, &axis::pad),
       strides = extents_of(problem, 0, 0, &axis::stride),
       dilations = extents_of(problem, 0, 0, &axis::dilation);
  TROUPE_ASSIGN(form.input,
                describe_images(problem.type, problem.channels_last, {input.data(), rank}));
  TROUPE_ASSIGN(form.output,
                describe_images(problem.type, problem.channels_last, {output.data(), rank}));
  TROUPE_TRY(cudnnCreateFilterDescriptor(form.filter.out()));
  TROUPE_TRY(cudnnCreateConvolutionDescriptor(form.windows.out()));
  TROUPE_TRY(cudnnSetFilterNdDescriptor(form.filter.get(), type, format, static_cast<int>(rank),
                                        filter.data()));
  TROUPE_TRY(cudnnSetConvolutionNdDescriptor(
      form.windows.get(), problem.spatial, pads.data() + 2, strides.data() + 2,
      dilations.data() + 2, CUDNN_CROSS_CORRELATION,
      problem.type == dtype::f64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT));
  TROUPE_TRY(cudnnSetConvolutionGroupCount(form.windows.get(), static_cast<int>(problem.groups)));
  if (asked.biased)
    TROUPE_TRY(describe_end(asked, form));
  return cudnnSetConvolutionMathType(form.windows.get(), math_of(asked));
}

const convolution_engine* engine_of(const plan& prepared, const algorithm& candidate) {
  return candidate.number < first_engine
             ? nullptr
             : &prepared.engines[static_cast<size_t>(candidate.number - first_engine)];
}

// Returns the forms in which to try an algorithm. Without a Relu, cuDNN joins a bias to one only.
std::vector<int> forms_of(const question& asked, int algorithm) {
  if (!asked.biased)
    return {alone};
  if (asked.rectifies || algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM)
    return {joined, apart};
  return {apart};
}

// Adds the algorithms that the library rates and that conform to the question, best first.
template <class Rating, class Rate, class Size>
status rate(plan& prepared, const question& asked, Rate rate, Size workspace_of) {
  Rating ratings[16];
  int count = 0;
  if (auto rated = rate(16, &count, ratings); !rated)
    return prepared.engines.empty() ? rated : status{};
  size_t accepted = 0;
  auto has_no_workspace = false; // one algorithm without a workspace is always accepted
  for (const auto& rating : std::span{ratings, static_cast<size_t>(count)}) {
    auto deterministic = rating.determinism == CUDNN_DETERMINISTIC;
    if (rating.status != CUDNN_STATUS_SUCCESS || (asked.problem.deterministic && !deterministic))
      continue;
    // If operands must not be rounded, the library's preferred math type is ignored.
    auto math =
        asked.problem.type == dtype::f32 && !asked.rounds ? CUDNN_FMA_MATH : rating.mathType;
    algorithm candidate{static_cast<int>(rating.algo), static_cast<int>(math), 0, deterministic};
    if (!cudnnSetConvolutionMathType(prepared.windows.get(), math) ||
        !workspace_of(rating.algo, &candidate.workspace) || candidate.workspace > max_workspace)
      continue;
    if (!prepared.engines.empty() && accepted >= max_beside_engines &&
        (has_no_workspace || candidate.workspace > 0))
      continue;
    ++accepted;
    has_no_workspace = has_no_workspace || candidate.workspace == 0;
    for (auto form : forms_of(asked, candidate.number)) {
      candidate.form = form;
      if (std::ranges::find(prepared.candidates, candidate) == prepared.candidates.end())
        prepared.candidates.push_back(candidate);
    }
  }
  return {};
}

// Adds the engines; old versions of the library have none.
void add_engines(cudnnHandle_t handle, const question& asked, plan& prepared) {
  if (auto engines = find_engines(handle, asked.problem, asked.rounds, max_workspace, max_engines))
    prepared.engines = *std::move(engines);
  for (size_t i = 0; i < prepared.engines.size(); ++i)
    prepared.candidates.push_back({.number = first_engine + static_cast<int>(i),
                                   .workspace = prepared.engines[i].workspace,
                                   .deterministic = prepared.engines[i].deterministic,
                                   .form = asked.biased ? apart : alone});
}

status find_candidates(cudnnHandle_t handle, const question& asked, plan& prepared) {
  add_engines(handle, asked, prepared);
  auto *x = prepared.input.get(), *y = prepared.output.get();
  auto* filter = prepared.filter.get();
  auto* windows = prepared.windows.get();
  switch (asked.problem.computes) {
    case convolved::output:
      return rate<cudnnConvolutionFwdAlgoPerf_t>(
          prepared, asked,
          [&](int capacity, int* count, auto* ratings) {
            return cudnnGetConvolutionForwardAlgorithm_v7(handle, x, filter, windows, y, capacity,
                                                          count, ratings);
          },
          [&](auto algorithm, size_t* bytes) {
            return cudnnGetConvolutionForwardWorkspaceSize(handle, x, filter, windows, y, algorithm,
                                                           bytes);
          });
    case convolved::input:
      return rate<cudnnConvolutionBwdDataAlgoPerf_t>(
          prepared, asked,
          [&](int capacity, int* count, auto* ratings) {
            return cudnnGetConvolutionBackwardDataAlgorithm_v7(handle, filter, y, windows, x,
                                                               capacity, count, ratings);
          },
          [&](auto algorithm, size_t* bytes) {
            return cudnnGetConvolutionBackwardDataWorkspaceSize(handle, filter, y, windows, x,
                                                                algorithm, bytes);
          });
    default:
      return rate<cudnnConvolutionBwdFilterAlgoPerf_t>(
          prepared, asked,
          [&](int capacity, int* count, auto* ratings) {
            return cudnnGetConvolutionBackwardFilterAlgorithm_v7(handle, x, y, windows, filter,
                                                                 capacity, count, ratings);
          },
          [&](auto algorithm, size_t* bytes) {
            return cudnnGetConvolutionBackwardFilterWorkspaceSize(handle, x, y, windows, filter,
                                                                  algorithm, bytes);
          });
  }
}

status unsupported(const convolution& problem, const status& reason) {
  return failure(error_kind::unimplemented, "cuDNN does not compute this convolution of ",
                 problem.type, " with channels ", problem.channels_last ? "last" : "first",
                 reason ? "" : ": ", reason ? "" : reason.message());
}

result<plan*> plan_of(convolver& cache, cudnnHandle_t handle, const question& asked) {
  if (auto cached = cache.plans.find(asked); cached != cache.plans.end())
    return &cached->second;
  plan prepared;
  // cuDNN's error for an unsupported convolution depends on the version.
  auto translate = [&](const status& reason) {
    auto refused =
        reason.kind() == error_kind::internal || reason.kind() == error_kind::unimplemented;
    return refused ? unsupported(asked.problem, reason) : reason;
  };
  if (auto described = describe(asked, prepared); !described)
    return translate(described);
  if (auto searched = find_candidates(handle, asked, prepared); !searched)
    return translate(searched);
  if (cache.plans.size() >= max_plans)
    cache.plans.clear();
  return &cache.plans.insert_or_assign(asked, std::move(prepared)).first->second;
}

struct operands {
  void *input, *filter, *output;
  epilogue last;

  bool aligned() const {
    return std::ranges::all_of(std::array{input, filter, output}, [](const void* address) {
      return reinterpret_cast<uintptr_t>(address) % engine_alignment == 0;
    });
  }
};

status launch(cudnnHandle_t handle, const convolution& problem, const plan& prepared,
              const algorithm& chosen, const operands& tensors, void* workspace) {
  if (const auto* engine = engine_of(prepared, chosen))
    return launch(handle, *engine, tensors.input, tensors.filter, tensors.output, workspace);
  const blending factors{problem.type};
  const auto *alpha = factors.one(), *beta = factors.zero();
  auto *x = prepared.input.get(), *y = prepared.output.get();
  auto* filter = prepared.filter.get();
  auto* windows = prepared.windows.get();
  TROUPE_TRY(cudnnSetConvolutionMathType(windows, static_cast<cudnnMathType_t>(chosen.math)));
  switch (problem.computes) {
    case convolved::output:
      return cudnnConvolutionForward(handle, alpha, x, tensors.input, filter, tensors.filter,
                                     windows, static_cast<cudnnConvolutionFwdAlgo_t>(chosen.number),
                                     workspace, chosen.workspace, beta, y, tensors.output);
    case convolved::input:
      return cudnnConvolutionBackwardData(handle, alpha, filter, tensors.filter, y, tensors.output,
                                          windows,
                                          static_cast<cudnnConvolutionBwdDataAlgo_t>(chosen.number),
                                          workspace, chosen.workspace, beta, x, tensors.input);
    default:
      return cudnnConvolutionBackwardFilter(
          handle, alpha, x, tensors.input, y, tensors.output, windows,
          static_cast<cudnnConvolutionBwdFilterAlgo_t>(chosen.number), workspace, chosen.workspace,
          beta, filter, tensors.filter);
  }
}

// cuDNN requires a further summand: the output, times zero.
status launch_joined(cudnnHandle_t handle, const plan& prepared, const algorithm& chosen,
                     const operands& tensors, void* workspace) {
  const float one = 1, zero = 0;
  auto *x = prepared.input.get(), *y = prepared.output.get();
  auto* windows = prepared.windows.get();
  TROUPE_TRY(cudnnSetConvolutionMathType(windows, static_cast<cudnnMathType_t>(chosen.math)));
  return cudnnConvolutionBiasActivationForward(
      handle, &one, x, tensors.input, prepared.filter.get(), tensors.filter, windows,
      static_cast<cudnnConvolutionFwdAlgo_t>(chosen.number), workspace, chosen.workspace, &zero, y,
      tensors.output, prepared.bias.get(), tensors.last.bias, prepared.end.get(), y,
      tensors.output);
}

status launch_all(gpu_device& target, cudnnHandle_t handle, const convolution& problem,
                  const plan& prepared, const algorithm& chosen, const operands& tensors,
                  void* workspace) {
  if (chosen.form == joined)
    return launch_joined(handle, prepared, chosen, tensors, workspace);
  TROUPE_TRY(launch(handle, problem, prepared, chosen, tensors, workspace));
  if (chosen.form == alone)
    return {};
  auto pixels = problem.axes[0].out * problem.axes[1].out * problem.axes[2].out;
  return add_bias(target,
                  {.values = tensors.output,
                   .type = problem.type,
                   .outer = problem.channels_last ? problem.images * pixels : problem.images,
                   .channels = problem.out_channels,
                   .inner = problem.channels_last ? 1 : pixels},
                  tensors.last);
}

result<tensor> allocate_workspace(const algorithm& chosen, allocator& memory) {
  if (chosen.workspace == 0)
    return tensor{};
  return tensor::make(dtype::u8, shape{static_cast<int64_t>(chosen.workspace)}, memory);
}

void* pointer_to(const tensor& workspace, const algorithm& chosen) {
  return chosen.workspace > 0 ? workspace.raw() : nullptr;
}

// Puts the fastest algorithm first, once that is known. Every launch writes the whole result, so
// trials are harmless.
void order_candidates(gpu_device& target, cudnnHandle_t handle, allocator& memory,
                      const question& asked, const operands& tensors, plan& prepared) {
  if (prepared.ordered || asked.problem.deterministic)
    return;
  auto choice = target.get_or_make<convolution_choice>(make_default_choice);
  if (!choice || !(*choice)->measured)
    return;
  trial run;
  if (!is_recording(target) && (prepared.engines.empty() || tensors.aligned()))
    run = [&](const algorithm& candidate, int runs) -> result<std::vector<int64_t>> {
      TROUPE_ASSIGN(auto workspace, allocate_workspace(candidate, memory));
      return time_launches(
          target.driver(), target.compute(), runs,
          [&] {
            return launch_all(target, handle, asked.problem, prepared, candidate, tensors,
                              pointer_to(workspace, candidate));
          },
          max_wait);
    };
  auto answer =
      tuner().find({target.driver().gpu_properties().name, asked}, prepared.candidates, run);
  prepared.candidates = std::move(answer.order);
  prepared.ordered = answer.final;
  if (!prepared.candidates.empty() &&
      answer.max_workspace >= prepared.candidates.front().workspace + worth_returning)
    target.release_cached_memory();
}

status convolve_by(cudnnHandle_t handle, gpu_device& target, convolver& cache, allocator& memory,
                   const question& asked, const operands& tensors) {
  TROUPE_ASSIGN(auto* prepared, plan_of(cache, handle, asked));
  order_candidates(target, handle, memory, asked, tensors, *prepared);
  status outcome, memory_error;
  for (auto candidate = prepared->candidates.begin(); candidate != prepared->candidates.end();) {
    if (engine_of(*prepared, *candidate) && !tensors.aligned()) {
      ++candidate;
      continue;
    }
    auto workspace = allocate_workspace(*candidate, memory);
    if (!workspace) {
      memory_error = workspace.status();
      ++candidate;
      continue;
    }
    outcome = launch_all(target, handle, asked.problem, *prepared, *candidate, tensors,
                         pointer_to(*workspace, *candidate));
    if (outcome)
      return {};
    // An error invalidates a capture, and later launches would fail with the same error.
    if (is_recording(target) || outcome.kind() == error_kind::internal)
      return outcome;
    if (outcome.kind() == error_kind::unimplemented) {
      candidate = prepared->candidates.erase(candidate); // not supported: do not try again
    } else {
      memory_error = outcome;
      ++candidate;
    }
  }
  return memory_error ? unsupported(asked.problem, outcome) : memory_error;
}

} // namespace

status convolve(gpu_device& target, allocator& memory, const convolution& problem, void* input,
                void* filter, void* output, const epilogue& last) {
  TROUPE_ASSIGN(auto* cache, target.get_or_make<convolver>(make_convolver));
  question asked{problem, problem.type == dtype::f32 && target.uses_tf32(), last.bias != nullptr,
                 last.rectify};
  std::lock_guard guard{cache->mutex};
  return with_cudnn(target, [&](cudnnHandle_t handle) {
    return convolve_by(handle, target, *cache, memory, asked, {input, filter, output, last});
  });
}

} // namespace troupe::gpu

#else

namespace troupe::gpu {

status convolve(gpu_device&, allocator&, const convolution&, void*, void*, void*, const epilogue&) {
  return failure(error_kind::failed_precondition,
                 "was built without cuDNN's headers: build again where they are installed, or put "
                 "the node on /cpu:0");
}

} // namespace troupe::gpu

#endif
