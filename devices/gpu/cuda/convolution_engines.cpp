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

// By which a launch names tensors.
enum : int64_t { input_id = 1, filter_id, output_id };

constexpr int64_t max_advised = 32; // engines that are asked for at once

template <class T>
status set(const graph_form& of, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
           std::span<const T> values) {
  return cudnnBackendSetAttribute(of.get(), name, type, static_cast<int64_t>(values.size()),
                                  values.data());
}

template <class T>
status set(const graph_form& of, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
           const T& value) {
  return set(of, name, type, std::span<const T>{&value, 1});
}

status set(const graph_form& of, cudnnBackendAttributeName_t name, const graph_form& value) {
  return set(of, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, value.get());
}

status set(const graph_form& of, cudnnBackendAttributeName_t name,
           const std::vector<int64_t>& values) {
  return set(of, name, CUDNN_TYPE_INT64, std::span<const int64_t>{values});
}

status make(graph_form& into, cudnnBackendDescriptorType_t type) {
  return cudnnBackendCreateDescriptor(type, into.out());
}

status finish(const graph_form& of) { return cudnnBackendFinalize(of.get()); }

// What each of the convolution's axes has of this.
std::vector<int64_t> axes_of(const convolution& what, int64_t convolution::axis::*extent) {
  std::vector<int64_t> found;
  for (auto i = 3 - static_cast<size_t>(what.spatial); i < 3; ++i)
    found.push_back(what.axes[i].*extent);
  return found;
}

// A packed tensor, with its channels behind the first axis as cuDNN counts them, wherever they lie.
status describe(graph_form& into, const convolution& what, int64_t id, int64_t first,
                int64_t channels, int64_t convolution::axis::*extent) {
  std::vector<int64_t> dims{first, channels};
  std::ranges::copy(axes_of(what, extent), std::back_inserter(dims));
  std::vector<int64_t> strides(dims.size());
  int64_t stride = 1;
  auto lay = [&](size_t axis) {
    strides[axis] = stride;
    stride *= dims[axis];
  };
  if (what.channels_last)
    lay(1);
  for (auto axis = dims.size(); axis-- > 2;)
    lay(axis);
  if (!what.channels_last)
    lay(1);
  lay(0);
  TROUPE_TRY(make(into, CUDNN_BACKEND_TENSOR_DESCRIPTOR));
  TROUPE_TRY(set(into, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, element_type(what.type)));
  TROUPE_TRY(set(into, CUDNN_ATTR_TENSOR_DIMENSIONS, dims));
  TROUPE_TRY(set(into, CUDNN_ATTR_TENSOR_STRIDES, strides));
  TROUPE_TRY(set(into, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, id));
  TROUPE_TRY(set(into, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64,
                 static_cast<int64_t>(engine_alignment)));
  return finish(into);
}

// Attributes of an operation, which are called otherwise in each direction.
struct operation_names {
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t windows, input, filter, output, alpha, beta;
};

operation_names names_of(convolved which) {
  switch (which) {
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

// A graph of one operation, and what it consists of.
struct described {
  graph_form input, filter, output, windows, operation, graph;
};

status describe_windows(graph_form& into, const convolution& what) {
  using axis = convolution::axis;
  auto sums = what.type == dtype::f64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  TROUPE_TRY(make(into, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR));
  TROUPE_TRY(set(into, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64,
                 static_cast<int64_t>(what.spatial)));
  TROUPE_TRY(set(into, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, sums));
  TROUPE_TRY(set(into, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
                 CUDNN_CROSS_CORRELATION));
  TROUPE_TRY(set(into, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, axes_of(what, &axis::pad)));
  TROUPE_TRY(set(into, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, axes_of(what, &axis::pad)));
  TROUPE_TRY(set(into, CUDNN_ATTR_CONVOLUTION_DILATIONS, axes_of(what, &axis::dilation)));
  TROUPE_TRY(set(into, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, axes_of(what, &axis::stride)));
  return finish(into);
}

result<described> describe(cudnnHandle_t handle, const convolution& what) {
  using axis = convolution::axis;
  described made;
  TROUPE_TRY(describe(made.input, what, input_id, what.images, what.in_channels, &axis::in));
  TROUPE_TRY(describe(made.filter, what, filter_id, what.out_channels,
                      what.in_channels / what.groups, &axis::size));
  TROUPE_TRY(describe(made.output, what, output_id, what.images, what.out_channels, &axis::out));
  TROUPE_TRY(describe_windows(made.windows, what));
  const auto names = names_of(what.computes);
  const blending factors{what.type};
  auto type = what.type == dtype::f64 ? CUDNN_TYPE_DOUBLE : CUDNN_TYPE_FLOAT;
  TROUPE_TRY(make(made.operation, names.type));
  TROUPE_TRY(set(made.operation, names.windows, made.windows));
  TROUPE_TRY(set(made.operation, names.input, made.input));
  TROUPE_TRY(set(made.operation, names.filter, made.filter));
  TROUPE_TRY(set(made.operation, names.output, made.output));
  TROUPE_TRY(cudnnBackendSetAttribute(made.operation.get(), names.alpha, type, 1, factors.one()));
  TROUPE_TRY(cudnnBackendSetAttribute(made.operation.get(), names.beta, type, 1, factors.zero()));
  TROUPE_TRY(finish(made.operation));
  TROUPE_TRY(make(made.graph, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR));
  TROUPE_TRY(set(made.graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle));
  TROUPE_TRY(set(made.graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, made.operation));
  TROUPE_TRY(finish(made.graph));
  return made;
}

// What cuDNN advises, the best first.
status advise(const described& of, cudnnBackendHeurMode_t how, std::vector<graph_form>& into) {
  graph_form heuristics;
  TROUPE_TRY(make(heuristics, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR));
  TROUPE_TRY(set(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, of.graph));
  TROUPE_TRY(set(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, how));
  TROUPE_TRY(finish(heuristics));
  std::vector<graph_form> found(max_advised);
  std::vector<cudnnBackendDescriptor_t> places;
  for (auto& one : found) {
    TROUPE_TRY(make(one, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
    places.push_back(one.get());
  }
  int64_t count = 0;
  TROUPE_TRY(cudnnBackendGetAttribute(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                      CUDNN_TYPE_BACKEND_DESCRIPTOR, max_advised, &count,
                                      places.data()));
  found.resize(static_cast<size_t>(std::clamp<int64_t>(count, 0, max_advised)));
  std::ranges::move(found, std::back_inserter(into));
  return {};
}

result<std::vector<cudnnBackendNumericalNote_t>> notes_of(const graph_form& advised) {
  graph_form engine;
  TROUPE_TRY(make(engine, CUDNN_BACKEND_ENGINE_DESCRIPTOR));
  auto* place = engine.get();
  int64_t count = 0;
  TROUPE_TRY(cudnnBackendGetAttribute(advised.get(), CUDNN_ATTR_ENGINECFG_ENGINE,
                                      CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &place));
  std::vector<cudnnBackendNumericalNote_t> notes(CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  TROUPE_TRY(cudnnBackendGetAttribute(engine.get(), CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                      CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT,
                                      &count, notes.data()));
  notes.resize(static_cast<size_t>(std::clamp<int64_t>(count, 0, CUDNN_NUMERICAL_NOTE_TYPE_COUNT)));
  return notes;
}

// An engine as it was advised, or what is wrong with it.
result<convolution_engine> plan(cudnnHandle_t handle, const graph_form& advised) {
  convolution_engine made;
  TROUPE_TRY(make(made.plan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR));
  TROUPE_TRY(set(made.plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, handle));
  TROUPE_TRY(set(made.plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, advised));
  TROUPE_TRY(finish(made.plan));
  int64_t bytes = 0, count = 0;
  TROUPE_TRY(cudnnBackendGetAttribute(made.plan.get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                      CUDNN_TYPE_INT64, 1, &count, &bytes));
  made.workspace = static_cast<size_t>(std::max<int64_t>(bytes, 0));
  return made;
}

} // namespace

result<std::vector<convolution_engine>> find_engines(cudnnHandle_t handle, const convolution& what,
                                                     bool rounds, size_t max_workspace,
                                                     size_t most) {
  TROUPE_ASSIGN(auto of, describe(handle, what));
  std::vector<graph_form> advised;
  for (auto how : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK})
    static_cast<void>(advise(of, how, advised)); // one may know none
  std::vector<convolution_engine> found;
  for (const auto& one : advised) {
    if (found.size() == most)
      break;
    auto notes = notes_of(one);
    if (!notes)
      continue;
    auto has = [&](auto note) { return std::ranges::find(*notes, note) != notes->end(); };
    auto deterministic = !has(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
    auto rounds_operands =
        what.type == dtype::f32 &&
        (has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE) || has(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS));
    if ((what.deterministic && !deterministic) || (rounds_operands && !rounds) ||
        has(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION))
      continue;
    auto made = plan(handle, one);
    if (!made || made->workspace > max_workspace)
      continue;
    made->deterministic = deterministic;
    found.push_back(*std::move(made));
  }
  return found;
}

status launch(cudnnHandle_t handle, const convolution_engine& by, void* input, void* filter,
              void* output, void* workspace) {
  graph_form tensors;
  const std::array<void*, 3> places{input, filter, output};
  const std::array<int64_t, 3> ids{input_id, filter_id, output_id};
  TROUPE_TRY(make(tensors, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR));
  TROUPE_TRY(set(tensors, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
                 std::span<void* const>{places}));
  TROUPE_TRY(set(tensors, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64,
                 std::span<const int64_t>{ids}));
  TROUPE_TRY(set(tensors, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, workspace));
  TROUPE_TRY(finish(tensors));
  return cudnnBackendExecute(handle, by.plan.get(), tensors.get());
}

} // namespace troupe::gpu
#endif
