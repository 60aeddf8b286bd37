#include "troupe/ops/list/shared/arrays.hpp"

#include "troupe/ops/list/shared/axes.hpp"
#include "troupe/runtime/autodiff/function_gradient.hpp"

namespace troupe::ops {
namespace {

// The shape of elements joined along a new first axis.
result<partial_shape> with_first_axis(int64_t extent, const partial_shape& dims) {
  return with_axes(std::span{&extent, 1}, dims);
}

partial_shape without_first(const partial_shape& dims) {
  if (!dims.has_rank() || dims.rank() == 0)
    return partial_shape::unknown();
  auto extents = dims.extents().subspan(1);
  return partial_shape{std::vector<int64_t>(extents.begin(), extents.end())};
}

// The handle is the first input, the flow the last.
status check_ends(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0).status());
  return at.of_rank(at.inputs() - 1, 0).status();
}

status check_value(const infer_context& at, int i) {
  const auto& dims = at.input(i);
  return dims.has_rank() && dims.rank() == 0 ? at.invalid("value must have an axis, got a scalar")
                                             : status{};
}

result<shapes> flow(const infer_context& at) {
  TROUPE_TRY(check_ends(at));
  return shapes{shape{}};
}

result<partial_shape> element_shape_at(const infer_context& at) {
  return merge(array_element_shape(at.source(0)), at.attr<partial_shape>("element_shape"));
}

} // namespace

partial_shape array_element_shape(edge handle) {
  while (handle && handle.index == 0) {
    const auto& maker = *handle.node;
    const auto& name = maker.op().name;
    if (name == "TensorArrayV3" || name == "TensorArrayV2" || name == "TensorArray")
      return maker.attr<partial_shape>("element_shape");
    if (name != "Identity" && name != "TensorArrayGradV3" && name != "TensorArrayGradV2" &&
        name != "TensorArrayGrad")
      break;
    handle = maker.inputs()[0];
  }
  return partial_shape::unknown();
}

// -- shapes ---------------------------------------------------------------------------------------

namespace infer_array {

result<shapes> make(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0).status());
  return shapes(static_cast<size_t>(at.outputs()), shape{});
}

result<shapes> gradient(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0).status());
  TROUPE_TRY(at.of_rank(1, 0).status());
  if (at.inputs() == 3)
    TROUPE_TRY(at.of_rank(2, 1).status());
  return shapes(static_cast<size_t>(at.outputs()), shape{});
}

result<shapes> write(const infer_context& at) {
  TROUPE_TRY(at.of_rank(1, 0).status());
  return flow(at);
}

result<shapes> read(const infer_context& at) {
  TROUPE_TRY(write(at).status());
  return shapes{array_element_shape(at.source(0))};
}

result<shapes> gather(const infer_context& at) {
  TROUPE_TRY(check_ends(at));
  TROUPE_ASSIGN(auto indices, at.of_rank(1, 1));
  TROUPE_ASSIGN(auto dims, element_shape_at(at));
  TROUPE_ASSIGN(auto joined, with_first_axis(indices[0], dims));
  return shapes{joined};
}

result<shapes> pack(const infer_context& at) {
  TROUPE_TRY(check_ends(at));
  TROUPE_ASSIGN(auto dims, element_shape_at(at));
  TROUPE_ASSIGN(auto joined, with_first_axis(unknown_extent, dims));
  return shapes{joined};
}

result<shapes> scatter(const infer_context& at) {
  TROUPE_TRY(at.of_rank(1, 1).status());
  TROUPE_TRY(check_value(at, 2));
  return flow(at);
}

result<shapes> unpack(const infer_context& at) {
  TROUPE_TRY(check_value(at, 1));
  return flow(at);
}

result<shapes> concat(const infer_context& at) {
  TROUPE_TRY(check_ends(at));
  TROUPE_ASSIGN(auto dims,
                with_first_axis(unknown_extent, at.attr<partial_shape>("element_shape_except0")));
  return shapes{dims, partial_shape{unknown_extent}};
}

result<shapes> split(const infer_context& at) {
  TROUPE_TRY(check_value(at, 1));
  TROUPE_TRY(at.of_rank(2, 1).status());
  return flow(at);
}

result<shapes> size(const infer_context& at) { return flow(at); }

result<shapes> close(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0).status());
  return shapes{};
}

} // namespace infer_array

// -- gradients ------------------------------------------------------------------------------------

namespace array_gradient {
namespace {

struct gradients_of {
  edge handle, flow;
};

gradients_of find(gradient_context& at, edge flow) {
  auto source = at.functions() ? at.functions()->name() : std::string{"gradients"};
  auto handle = build("TensorArrayGradV3", {at.input(0), flow}, {{"source", source}});
  return {handle, handle ? edge{handle.node, 1} : edge{}};
}

// For an op that writes. The array of gradients exists once everything is written, even if no op
// reads it; the flow then has no gradient of its own.
gradients_of after_writing(gradient_context& at) {
  return find(at, build("AddN", {at.output_gradient(0), at.output(0)}));
}

// For an op that reads: its flow follows all writes.
gradients_of after_reading(gradient_context& at) { return find(at, at.input(at.inputs() - 1)); }

edges gradients_with(gradient_context& at, int value, edge of_value, edge flow) {
  edges gradients(static_cast<size_t>(at.inputs()));
  if (value >= 0)
    gradients[static_cast<size_t>(value)] = of_value;
  gradients.back() = flow;
  return gradients;
}

bool takes_gradient(gradient_context& at, int value) {
  return at.needs_gradient(value) && carries_gradients(at.input(value).type());
}

} // namespace

edges of_array(gradient_context& at) {
  edges gradients(static_cast<size_t>(at.inputs()));
  if (at.source_node().outputs() == 2 && at.has_output_gradient(1))
    gradients[1] = at.output_gradient(1);
  return gradients;
}

edges write(gradient_context& at) {
  auto [handle, flow] = after_writing(at);
  edge value;
  if (takes_gradient(at, 2))
    value =
        build("TensorArrayReadV3", {handle, at.input(1), flow}, {{"dtype", at.input(2).type()}});
  return gradients_with(at, 2, value, flow);
}

edges read(gradient_context& at) {
  auto [handle, flow] = after_reading(at);
  return gradients_with(
      at, -1, {}, build("TensorArrayWriteV3", {handle, at.input(1), at.output_gradient(0), flow}));
}

edges gather(gradient_context& at) {
  auto [handle, flow] = after_reading(at);
  return gradients_with(
      at, -1, {},
      build("TensorArrayScatterV3", {handle, at.input(1), at.output_gradient(0), flow}));
}

edges pack(gradient_context& at) {
  auto [handle, flow] = after_reading(at);
  return gradients_with(at, -1, {},
                        build("TensorArrayUnpack", {handle, at.output_gradient(0), flow}));
}

edges concat(gradient_context& at) {
  auto [handle, flow] = after_reading(at);
  return gradients_with(
      at, -1, {}, build("TensorArraySplitV3", {handle, at.output_gradient(0), at.output(1), flow}));
}

edges scatter(gradient_context& at) {
  auto [handle, flow] = after_writing(at);
  edge value;
  if (takes_gradient(at, 2))
    value = build(
        "TensorArrayGatherV3", {handle, at.input(1), flow},
        {{"dtype", at.input(2).type()}, {"element_shape", without_first(at.input(2).dims())}});
  return gradients_with(at, 2, value, flow);
}

edges unpack(gradient_context& at) {
  auto [handle, flow] = after_writing(at);
  edge value;
  if (takes_gradient(at, 1))
    value = build(
        "TensorArrayPack", {handle, flow},
        {{"dtype", at.input(1).type()}, {"element_shape", without_first(at.input(1).dims())}});
  return gradients_with(at, 1, value, flow);
}

edges split(gradient_context& at) {
  auto [handle, flow] = after_writing(at);
  edge value;
  if (takes_gradient(at, 1))
    value = build("TensorArrayConcatV3", {handle, flow},
                  {{"dtype", at.input(1).type()},
                   {"element_shape_except0", without_first(at.input(1).dims())}});
  return gradients_with(at, 1, value, flow);
}

} // namespace array_gradient

} // namespace troupe::ops
