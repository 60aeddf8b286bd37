#if __has_include(<cudnn.h>)
#include "troupe/devices/gpu/cuda/convolution_engines.hpp"

#include <algorithm>

namespace troupe::gpu {
namespace {

TROUPE_LIBRARY_FUNCTION(cudnn, cudnnBackendCreateDescriptor);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnBackendSetAttribute);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnBackendGetAttribute);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnBackendFinalize);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnBackendExecute);

// The IDs of tensors in launches.
enum : int64_t { input_id = 1, filter_id, output_id };

constexpr int64_t max_advised = 32; // engines for each query of the heuristics

template <class T>
status set(const graph_form& form, cudnnBackendAttributeName_t name,
           cudnnBackendAttributeType_t type, std::span<const T> values) {
  return cudnnBackendSetAttribute(form.get(), name, type, static_cast<int64_t>(values.size()),
                                  values.data());
}

template <class T>
status set(const graph_form& form, cudnnBackendAttributeName_t name,
           cudnnBackendAttributeType_t type, const T& value) {
  return set(form, name, type, std::span<const T>{&value, 1});
}

status set(const graph_form& form, cudnnBackendAttributeName_t name, const graph_form& value) {
  return set(form, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, value.get());
}

status set(const graph_form& form, cudnnBackendAttributeName_t name,
           const std::vector<int64_t>& values) {
  return set(form, name, CUDNN_TYPE_INT64, std::span<const int64_t>{values});
}

status make(graph_form& form, cudnnBackendDescriptorType_t type) {
  return cudnnBackendCreateDescriptor(type, form.out());
}

status finish(const graph_form& form) { return cudnnBackendFinalize(form.get()); }

// Returns one attribute of each spatial axis.
std::vector<int64_t> axes_of(const convolution& problem, int64_t convolution::axis::*extent) {
  std::vector<int64_t> extents;
  for (auto i = 3 - static_cast<size_t>(problem.spatial); i < 3; ++i)
    extents.push_back(problem.axes[i].*extent);
  return extents;
}

// Describes a packed tensor. cuDNN counts channels after the first axis, whatever the memory
// layout.
status describe(graph_form& form, const convolution& problem, int64_t id, int64_t first,
                int64_t channels, int64_t convolution::axis::*extent) {
  std::vector<int64_t> dims{first, channels};
  std::ranges::copy(axes_of(problem, extent), std::back_inserter(dims));
  std::vector<int64_t> strides(dims.size());
  int64_t stride = 1;
  auto set_stride = [&](size_t axis) {
    strides[axis] = stride;
    stride *= dims[axis];
  };
  if (problem.channels_last)
    set_stride(1);
  for (auto axis = dims.size(); axis-- > 2;)
    set_stride(axis);
  if (!problem.channels_last)
    set_stride(1);
  set_stride(0);
  TROUPE_TRY(make(form, CUDNN_BACKEND_TENSOR_DESCRIPTOR));
  TROUPE_TRY(
      set(form, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, element_type(problem.type)));
  TROUPE_TRY(set(form, CUDNN_ATTR_TENSOR_DIMENSIONS, dims));
  TROUPE_TRY(set(form, CUDNN_ATTR_TENSOR_STRIDES, strides));
  TROUPE_TRY(set(form, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, id));
  TROUPE_TRY(set(form, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64,
                 static_cast<int64_t>(engine_alignment)));
  return finish(form);
}

// The attributes of an operation, whose names depend on the direction.
struct operation_names {
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t windows, input, filter, output, alpha, beta;
};

operation_names names_of(convolved computed) {
  switch (computed) {
    case convolved::output:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
    case convolved::input:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
    default:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
  }
}

// A graph of one operation, and its parts.
struct described {
  graph_form input, filter, output, windows, operation, graph;
};

status describe_windows(graph_form& form, const convolution& problem) {
  using axis = convolution::axis;
  auto sums = problem.type == dtype::f64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  TROUPE_TRY(make(form, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR));
  TROUPE_TRY(set(form, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64,
                 static_cast<int64_t>(problem.spatial)));
  TROUPE_TRY(set(form, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, sums));
  TROUPE_TRY(set(form, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
                 CUDNN_CROSS_CORRELATION));
  TROUPE_TRY(set(form, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, axes_of(problem, &axis::pad)));
  TROUPE_TRY(set(form, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, axes_of(problem, &axis::pad)));
  TROUPE_TRY(set(form, CUDNN_ATTR_CONVOLUTION_DILATIONS, axes_of(problem, &axis::dilation)));
  TROUPE_TRY(set(form, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, axes_of(problem, &axis::stride)));
  return finish(form);
}

result<described> describe(cudnnHandle_t handle, const convolution& problem) {
  using axis = convolution::axis;
  described parts;
  TROUPE_TRY(
      describe(parts.input, problem, input_id, problem.images, problem.in_channels, &axis::in));
  TROUPE_TRY(describe(parts.filter, problem, filter_id, problem.out_channels,
                      problem.in_channels / problem.groups, &axis::size));
  TROUPE_TRY(
      describe(parts.output, problem, output_id, problem.images, problem.out_channels, &axis::out));
  TROUPE_TRY(describe_windows(parts.windows, problem));
  const auto names = names_of(problem.computes);
  const blending factors{problem.type};
  auto type = problem.type == dtype::f64 ? CUDNN_TYPE_DOUBLE : CUDNN_TYPE_FLOAT;
  TROUPE_TRY(make(parts.operation, names.type));
  TROUPE_TRY(set(parts.operation, names.windows, parts.windows));
  TROUPE_TRY(set(parts.operation, names.input, parts.input));
  TROUPE_TRY(set(parts.operation, names.filter, parts.filter));
  TROUPE_TRY(set(parts.operation, names.output, parts.output));
  TROUPE_TRY(cudnnBackendSetAttribute(parts.operation.get(), names.alpha, type, 1, factors.one()));
  TROUPE_TRY(cudnnBackendSetAttribute(parts.operation.get(), names.beta, type, 1, factors.zero()));
  TROUPE_TRY(finish(parts.operation));
  TROUPE_TRY(make(parts.graph, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR));
  TROUPE_TRY(set(parts.graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle));
  TROUPE_TRY(set(parts.graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, parts.operation));
  TROUPE_TRY(finish(parts.graph));
  return parts;
}

// Appends the engines that cuDNN advises, best first.
status advise(const described& parts, cudnnBackendHeurMode_t mode,
              std::vector<graph_form>& advised) {
  graph_form heuristics;
  TROUPE_TRY(make(heuristics, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR));
  TROUPE_TRY(set(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, parts.graph));
  TROUPE_TRY(set(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode));
  TROUPE_TRY(finish(heuristics));
  std::vector<graph_form> configurations(max_advised);
  std::vector<cudnnBackendDescriptor_t> handles;
  for (auto& configuration : configurations) {
    TROUPE_TRY(make(configuration, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
    handles.push_back(configuration.get());
  }
  int64_t count = 0;
  TROUPE_TRY(cudnnBackendGetAttribute(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                      CUDNN_TYPE_BACKEND_DESCRIPTOR, max_advised, &count,
                                      handles.data()));
  configurations.resize(static_cast<size_t>(std::clamp<int64_t>(count, 0, max_advised)));
  std::ranges::move(configurations, std::back_inserter(advised));
  return {};
}

result<std::vector<cudnnBackendNumericalNote_t>> notes_of(const graph_form& advised) {
  graph_form engine;
  TROUPE_TRY(make(engine, CUDNN_BACKEND_ENGINE_DESCRIPTOR));
  auto* handle = engine.get();
  int64_t count = 0;
  TROUPE_TRY(cudnnBackendGetAttribute(advised.get(), CUDNN_ATTR_ENGINECFG_ENGINE,
                                      CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &handle));
  std::vector<cudnnBackendNumericalNote_t> notes(CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  TROUPE_TRY(cudnnBackendGetAttribute(engine.get(), CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                      CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT,
                                      &count, notes.data()));
  notes.resize(static_cast<size_t>(std::clamp<int64_t>(count, 0, CUDNN_NUMERICAL_NOTE_TYPE_COUNT)));
  return notes;
}

// Makes an execution plan for an advised engine.
result<convolution_engine> plan(cudnnHandle_t handle, const graph_form& advised) {
  convolution_engine engine;
  TROUPE_TRY(make(engine.plan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR));
  TROUPE_TRY(set(engine.plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, handle));
  TROUPE_TRY(set(engine.plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, advised));
  TROUPE_TRY(finish(engine.plan));
  int64_t bytes = 0, count = 0;
  TROUPE_TRY(cudnnBackendGetAttribute(engine.plan.get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                      CUDNN_TYPE_INT64, 1, &count, &bytes));
  engine.workspace = static_cast<size_t>(std::max<int64_t>(bytes, 0));
  return engine;
}

} // namespace

result<std::vector<convolution_engine>> find_engines(cudnnHandle_t handle,
                                                     const convolution& problem, bool rounds,
                                                     size_t max_workspace, size_t max_engines) {
  TROUPE_ASSIGN(auto parts, describe(handle, problem));
  std::vector<graph_form> advised;
  for (auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK})
    static_cast<void>(advise(parts, mode, advised)); // a mode may have no engine
  std::vector<convolution_engine> engines;
  for (const auto& configuration : advised) {
    if (engines.size() == max_engines)
      break;
    auto notes = notes_of(configuration);
    if (!notes)
      continue;
    auto has = [&](auto note) { return std::ranges::find(*notes, note) != notes->end(); };
    auto deterministic = !has(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
    auto uses_tf32 = problem.type == dtype::f32 && (has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE) ||
                                                    has(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS));
    if ((problem.deterministic && !deterministic) || (uses_tf32 && !rounds) ||
        has(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION))
      continue;
    auto engine = plan(handle, configuration);
    if (!engine || engine->workspace > max_workspace)
      continue;
    engine->deterministic = deterministic;
    engines.push_back(*std::move(engine));
  }
  return engines;
}

status launch(cudnnHandle_t handle, const convolution_engine& engine, void* input, void* filter,
              void* output, void* workspace) {
  graph_form tensors;
  const std::array<void*, 3> pointers{input, filter, output};
  const std::array<int64_t, 3> ids{input_id, filter_id, output_id};
  TROUPE_TRY(make(tensors, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR));
  TROUPE_TRY(set(tensors, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
                 std::span<void* const>{pointers}));
  TROUPE_TRY(set(tensors, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64,
                 std::span<const int64_t>{ids}));
  TROUPE_TRY(set(tensors, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, workspace));
  TROUPE_TRY(finish(tensors));
  return cudnnBackendExecute(handle, engine.plan.get(), tensors.get());
}

} // namespace troupe::gpu
#endif
