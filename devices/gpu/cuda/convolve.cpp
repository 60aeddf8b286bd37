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

result<std::shared_ptr<convolution_choice>> usual_choice(gpu_device&) {
  return std::make_shared<convolution_choice>();
}

} // namespace

void measure_convolutions(gpu_device& on, bool may) {
  if (auto choice = on.kept<convolution_choice>(usual_choice))
    (*choice)->measured = may;
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

constexpr auto patience = 10s; // until the device comes to what is measured
constexpr size_t max_workspace = size_t{1} << 30;
// What trials took and the chosen algorithm does not need is given back from so many bytes on.
constexpr size_t worth_returning = size_t{64} << 20;
constexpr size_t max_plans = 1024; // remembered; all are forgotten when there are more
constexpr size_t max_engines = 8;  // of a plan: more take long to try, and are advised against
// Where there are engines, so many of the older algorithms are tried beside them.
constexpr size_t max_beside_engines = 2;
constexpr int first_engine = 1000; // algorithm::number of one; those below are the library's own

// How an algorithm is launched (algorithm::form).
enum : int {
  alone,
  joined, // with its bias
  apart   // from its bias, which another launch adds
};

struct plan {
  tensor_form input, output, bias;
  filter_form filter;
  window_form windows;
  end_form end;
  std::vector<convolution_engine> engines;
  std::vector<algorithm> candidates; // the best first
  bool ordered = false;              // for good
};

struct question {
  convolution of;
  bool rounds, biased, rectifies;
  auto operator<=>(const question&) const = default;
};

// Equal GPUs are as fast.
struct measured_question {
  std::string gpu;
  question of;
  auto operator<=>(const measured_question&) const = default;
};

// As the libraries, all devices and sessions of a process share it.
autotuner<measured_question>& tuner() {
  static autotuner<measured_question> all;
  return all;
}

// A device's.
struct convolver {
  std::mutex mutex;
  std::map<question, plan> plans;
};

result<std::shared_ptr<convolver>> make_convolver(gpu_device&) {
  return std::make_shared<convolver>();
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

status describe_end(const question& asked, plan& into) {
  const auto& of = asked.of;
  extents channels{1, static_cast<int>(of.out_channels), 1, 1, 1};
  TROUPE_TRY(cudnnCreateTensorDescriptor(into.bias.out()));
  TROUPE_TRY(cudnnSetTensorNdDescriptorEx(into.bias.get(), CUDNN_TENSOR_NCHW, element_type(of.type),
                                          of.spatial + 2, channels.data()));
  TROUPE_TRY(cudnnCreateActivationDescriptor(into.end.out()));
  // Versions that know no Relu that keeps NaN refuse it, and it is launched apart.
  return asked.rectifies ? cudnnSetActivationDescriptor(into.end.get(), CUDNN_ACTIVATION_RELU,
                                                        CUDNN_PROPAGATE_NAN, 0)
                         : cudnnSetActivationDescriptor(into.end.get(), CUDNN_ACTIVATION_IDENTITY,
                                                        CUDNN_NOT_PROPAGATE_NAN, 0);
}

status describe(const question& asked, plan& into) {
  const auto& of = asked.of;
  TROUPE_TRY(fits(of));
  auto type = element_type(of.type);
  auto format = of.channels_last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
  auto rank = static_cast<size_t>(of.spatial) + 2;
  using axis = convolution::axis;
  auto input = extents_of(of, of.images, of.in_channels, &axis::in);
  auto output = extents_of(of, of.images, of.out_channels, &axis::out);
  auto filter = extents_of(of, of.out_channels, of.in_channels / of.groups, &axis::size);
  auto pads = extents_of(of, 0, 0, &axis::pad), strides = extents_of(of, 0, 0, &axis::stride),
       dilations = extents_of(of, 0, 0, &axis::dilation);
  TROUPE_ASSIGN(into.input, describe_images(of.type, of.channels_last, {input.data(), rank}));
  TROUPE_ASSIGN(into.output, describe_images(of.type, of.channels_last, {output.data(), rank}));
  TROUPE_TRY(cudnnCreateFilterDescriptor(into.filter.out()));
  TROUPE_TRY(cudnnCreateConvolutionDescriptor(into.windows.out()));
  TROUPE_TRY(cudnnSetFilterNdDescriptor(into.filter.get(), type, format, static_cast<int>(rank),
                                        filter.data()));
  TROUPE_TRY(cudnnSetConvolutionNdDescriptor(
      into.windows.get(), of.spatial, pads.data() + 2, strides.data() + 2, dilations.data() + 2,
      CUDNN_CROSS_CORRELATION, of.type == dtype::f64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT));
  TROUPE_TRY(cudnnSetConvolutionGroupCount(into.windows.get(), static_cast<int>(of.groups)));
  if (asked.biased)
    TROUPE_TRY(describe_end(asked, into));
  return cudnnSetConvolutionMathType(into.windows.get(), math_of(asked));
}

const convolution_engine* engine_of(const plan& in, const algorithm& which) {
  return which.number < first_engine
             ? nullptr
             : &in.engines[static_cast<size_t>(which.number - first_engine)];
}

// In which forms an algorithm is tried. Without a Relu, the library joins a bias to one only.
std::vector<int> forms_of(const question& asked, int algorithm) {
  if (!asked.biased)
    return {alone};
  if (asked.rectifies || algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM)
    return {joined, apart};
  return {apart};
}

// What the library rates, the best first; those that work as they are wanted.
template <class Rating, class Rate, class Size>
status rate(plan& into, const question& asked, Rate rate, Size workspace_of) {
  Rating ratings[16];
  int count = 0;
  if (auto rated = rate(16, &count, ratings); !rated)
    return into.engines.empty() ? rated : status{};
  size_t taken = 0;
  auto frugal = false; // one that needs no workspace is always among them
  for (const auto& one : std::span{ratings, static_cast<size_t>(count)}) {
    auto deterministic = one.determinism == CUDNN_DETERMINISTIC;
    if (one.status != CUDNN_STATUS_SUCCESS || (asked.of.deterministic && !deterministic))
      continue;
    // Where operands must not be rounded, what the library would like to do does not count.
    auto math = asked.of.type == dtype::f32 && !asked.rounds ? CUDNN_FMA_MATH : one.mathType;
    algorithm made{static_cast<int>(one.algo), static_cast<int>(math), 0, deterministic};
    if (!cudnnSetConvolutionMathType(into.windows.get(), math) ||
        !workspace_of(one.algo, &made.workspace) || made.workspace > max_workspace)
      continue;
    if (!into.engines.empty() && taken >= max_beside_engines && (frugal || made.workspace > 0))
      continue;
    ++taken;
    frugal = frugal || made.workspace == 0;
    for (auto form : forms_of(asked, made.number)) {
      made.form = form;
      if (std::ranges::find(into.candidates, made) == into.candidates.end())
        into.candidates.push_back(made);
    }
  }
  return {};
}

// Old versions of the library have none.
void add_engines(cudnnHandle_t handle, const question& asked, plan& into) {
  if (auto found = find_engines(handle, asked.of, asked.rounds, max_workspace, max_engines))
    into.engines = *std::move(found);
  for (size_t i = 0; i < into.engines.size(); ++i)
    into.candidates.push_back({.number = first_engine + static_cast<int>(i),
                               .workspace = into.engines[i].workspace,
                               .deterministic = into.engines[i].deterministic,
                               .form = asked.biased ? apart : alone});
}

status find_candidates(cudnnHandle_t handle, const question& asked, plan& into) {
  add_engines(handle, asked, into);
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

result<plan*> plan_of(convolver& by, cudnnHandle_t handle, const question& asked) {
  if (auto known = by.plans.find(asked); known != by.plans.end())
    return &known->second;
  plan made;
  // What cuDNN says to a form that it does not take depends on its version.
  auto tell = [&](const status& why) {
    auto refused = why.kind() == error_kind::internal || why.kind() == error_kind::unimplemented;
    return refused ? unsupported(asked.of, why) : why;
  };
  if (auto described = describe(asked, made); !described)
    return tell(described);
  if (auto found = find_candidates(handle, asked, made); !found)
    return tell(found);
  if (by.plans.size() >= max_plans)
    by.plans.clear();
  return &by.plans.insert_or_assign(asked, std::move(made)).first->second;
}

struct operands {
  void *input, *filter, *output;
  epilogue last;

  bool aligned() const {
    return std::ranges::all_of(std::array{input, filter, output}, [](const void* at) {
      return reinterpret_cast<uintptr_t>(at) % engine_alignment == 0;
    });
  }
};

status launch(cudnnHandle_t handle, const convolution& of, const plan& by, const algorithm& with,
              const operands& in, void* workspace) {
  if (const auto* engine = engine_of(by, with))
    return launch(handle, *engine, in.input, in.filter, in.output, workspace);
  const blending factors{of.type};
  const auto *alpha = factors.one(), *beta = factors.zero();
  auto *x = by.input.get(), *y = by.output.get();
  auto* filter = by.filter.get();
  auto* windows = by.windows.get();
  TROUPE_TRY(cudnnSetConvolutionMathType(windows, static_cast<cudnnMathType_t>(with.math)));
  switch (of.computes) {
    case convolved::output:
      return cudnnConvolutionForward(handle, alpha, x, in.input, filter, in.filter, windows,
                                     static_cast<cudnnConvolutionFwdAlgo_t>(with.number), workspace,
                                     with.workspace, beta, y, in.output);
    case convolved::input:
      return cudnnConvolutionBackwardData(handle, alpha, filter, in.filter, y, in.output, windows,
                                          static_cast<cudnnConvolutionBwdDataAlgo_t>(with.number),
                                          workspace, with.workspace, beta, x, in.input);
    default:
      return cudnnConvolutionBackwardFilter(
          handle, alpha, x, in.input, y, in.output, windows,
          static_cast<cudnnConvolutionBwdFilterAlgo_t>(with.number), workspace, with.workspace,
          beta, filter, in.filter);
  }
}

// The library wants one more tensor to add, and is given the output, times zero.
status launch_joined(cudnnHandle_t handle, const plan& by, const algorithm& with,
                     const operands& in, void* workspace) {
  const float one = 1, zero = 0;
  auto *x = by.input.get(), *y = by.output.get();
  auto* windows = by.windows.get();
  TROUPE_TRY(cudnnSetConvolutionMathType(windows, static_cast<cudnnMathType_t>(with.math)));
  return cudnnConvolutionBiasActivationForward(
      handle, &one, x, in.input, by.filter.get(), in.filter, windows,
      static_cast<cudnnConvolutionFwdAlgo_t>(with.number), workspace, with.workspace, &zero, y,
      in.output, by.bias.get(), in.last.bias, by.end.get(), y, in.output);
}

status launch_all(gpu_device& on, cudnnHandle_t handle, const convolution& of, const plan& by,
                  const algorithm& with, const operands& in, void* workspace) {
  if (with.form == joined)
    return launch_joined(handle, by, with, in, workspace);
  TROUPE_TRY(launch(handle, of, by, with, in, workspace));
  if (with.form == alone)
    return {};
  auto pixels = of.axes[0].out * of.axes[1].out * of.axes[2].out;
  return add_bias(on,
                  {.values = in.output,
                   .type = of.type,
                   .outer = of.channels_last ? of.images * pixels : of.images,
                   .channels = of.out_channels,
                   .inner = of.channels_last ? 1 : pixels},
                  in.last);
}

result<tensor> room_for(const algorithm& which, allocator& memory) {
  if (which.workspace == 0)
    return tensor{};
  return tensor::make(dtype::u8, shape{static_cast<int64_t>(which.workspace)}, memory);
}

void* place_of(const tensor& workspace, const algorithm& which) {
  return which.workspace > 0 ? workspace.raw() : nullptr;
}

// Puts the fastest algorithm first, as soon as that is known. Each writes all of the result, so
// that it does not matter how many have run before.
void order_candidates(gpu_device& on, cudnnHandle_t handle, allocator& memory,
                      const question& asked, const operands& in, plan& of) {
  if (of.ordered || asked.of.deterministic)
    return;
  auto choice = on.kept<convolution_choice>(usual_choice);
  if (!choice || !(*choice)->measured)
    return;
  trial run;
  if (!is_recording(on) && (of.engines.empty() || in.aligned()))
    run = [&](const algorithm& which, int runs) -> result<std::vector<int64_t>> {
      TROUPE_ASSIGN(auto workspace, room_for(which, memory));
      return time_launches(
          on.driver(), on.compute(), runs,
          [&] {
            return launch_all(on, handle, asked.of, of, which, in, place_of(workspace, which));
          },
          patience);
    };
  auto answer = tuner().ask({on.driver().about().name, asked}, of.candidates, run);
  of.candidates = std::move(answer.order);
  of.ordered = answer.final;
  if (!of.candidates.empty() &&
      answer.max_workspace >= of.candidates.front().workspace + worth_returning)
    on.release_cached_memory();
}

status convolve_by(cudnnHandle_t handle, gpu_device& on, convolver& by, allocator& memory,
                   const question& asked, const operands& in) {
  TROUPE_ASSIGN(auto* found, plan_of(by, handle, asked));
  order_candidates(on, handle, memory, asked, in, *found);
  status outcome, no_room;
  for (auto one = found->candidates.begin(); one != found->candidates.end();) {
    if (engine_of(*found, *one) && !in.aligned()) {
      ++one;
      continue;
    }
    auto workspace = room_for(*one, memory);
    if (!workspace) {
      no_room = workspace.status();
      ++one;
      continue;
    }
    outcome = launch_all(on, handle, asked.of, *found, *one, in, place_of(*workspace, *one));
    if (outcome)
      return {};
    // An error ends a recording, and what follows would be blamed for it.
    if (is_recording(on) || outcome.kind() == error_kind::internal)
      return outcome;
    if (outcome.kind() == error_kind::unimplemented) {
      one = found->candidates.erase(one); // what is refused once is not tried again
    } else {
      no_room = outcome;
      ++one;
    }
  }
  return no_room ? unsupported(asked.of, outcome) : no_room;
}

} // namespace

status convolve(gpu_device& on, allocator& memory, const convolution& what, void* input,
                void* filter, void* output, const epilogue& last) {
  TROUPE_ASSIGN(auto* by, on.kept<convolver>(make_convolver));
  question asked{what, what.type == dtype::f32 && on.rounds_operands(), last.bias != nullptr,
                 last.rectify};
  std::lock_guard guard{by->mutex};
  return with_cudnn(on, [&](cudnnHandle_t handle) {
    return convolve_by(handle, on, *by, memory, asked, {input, filter, output, last});
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
