#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/list/shared/axes.hpp"
#include "troupe/ops/list/shared/step_objects.cpu.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/state/slices.hpp"

#include <numeric>

namespace troupe::ops::tensor_array_cpu {
namespace {

// -- making ---------------------------------------------------------------------------------------

result<std::shared_ptr<void>> prepare_array(const kernel_setup& setup) {
  const auto& array_node = setup.origin;
  auto form = std::make_shared<tensor_array::form>();
  const auto& name = array_node.attr<std::string>("tensor_array_name");
  form->name = name.empty() ? array_node.name() : name;
  form->type = array_node.attr<dtype>("dtype");
  form->dims = array_node.attr<partial_shape>("element_shape");
  form->grows = array_node.attr<bool>("dynamic_size");
  form->clears = array_node.attr<bool>("clear_after_read");
  form->same_shapes = array_node.op().find_attr("identical_element_shapes") &&
                      array_node.attr<bool>("identical_element_shapes");
  return std::shared_ptr<void>{std::move(form)};
}

result<int32_t> scalar_at(const kernel_context& at, int i, std::string_view name) {
  if (at.input(i).rank() != 0)
    return invalid(name, " must be a scalar, got shape ", at.input(i).dims());
  return *at.input(i).data<int32_t>();
}

status run_array(kernel_context& at) {
  TROUPE_ASSIGN(auto size, scalar_at(at, 0, "size"));
  TROUPE_ASSIGN(auto array, tensor_array::make(at.state<tensor_array::form>(), size));
  TROUPE_TRY(set_handle(at, std::move(array)));
  if (at.outputs() == 2) {
    TROUPE_ASSIGN(auto* flow, at.allocate(1, shape{}));
    *flow->data<float>() = 0;
  }
  return {};
}

status run_gradient(kernel_context& at) {
  TROUPE_ASSIGN(auto* array, array_at(at));
  if (at.input(1).rank() != 0)
    return invalid("flow_in must be a scalar, got shape ", at.input(1).dims());
  shape further;
  if (at.inputs() == 3) {
    if (at.input(2).rank() != 1)
      return invalid("shape_to_prepend must be a vector, got shape ", at.input(2).dims());
    auto extents = to_integers(at.input(2));
    TROUPE_ASSIGN(further, shape::make({extents.data(), extents.size()}));
  }
  auto flow = at.input(1);
  TROUPE_ASSIGN(auto gradient_array, array->gradient(at.state<std::string>(), further));
  TROUPE_TRY(set_handle(at, std::move(gradient_array)));
  if (at.outputs() == 2)
    at.set_output(1, std::move(flow));
  return {};
}

// The last input is the incoming flow, and output 0 the outgoing flow.
status check_flow(const kernel_context& at) {
  const auto& flow = at.input(at.inputs() - 1);
  return flow.rank() == 0 ? status{} : invalid("flow_in must be a scalar, got shape ", flow.dims());
}

status hand_flow_on(kernel_context& at) {
  at.set_output(0, at.input(at.inputs() - 1));
  return {};
}

// -- single elements ------------------------------------------------------------------------------

status check_type(const tensor_array& array, dtype expected_type) {
  return array.type() == expected_type ? status{}
                                       : invalid(array.description(), ": it has elements of ",
                                                 array.type(), ", dtype says ", expected_type);
}

status run_write(kernel_context& at) {
  TROUPE_ASSIGN(auto* to, array_at(at));
  TROUPE_TRY(check_flow(at));
  TROUPE_ASSIGN(auto index, scalar_at(at, 1, "index"));
  TROUPE_TRY(to->write(at, index, at.input(2)));
  return hand_flow_on(at);
}

status run_read(kernel_context& at) {
  TROUPE_ASSIGN(auto* from, array_at(at));
  TROUPE_ASSIGN(auto index, scalar_at(at, 1, "index"));
  TROUPE_TRY(check_type(*from, at.output_type(0)));
  TROUPE_ASSIGN(auto value, from->read(at, index));
  at.set_output(0, std::move(value));
  return {};
}

// -- several elements -----------------------------------------------------------------------------

std::vector<int64_t> first(int64_t count) {
  std::vector<int64_t> positions(static_cast<size_t>(count));
  std::iota(positions.begin(), positions.end(), 0);
  return positions;
}

result<std::vector<int64_t>> indices_at(const kernel_context& at) {
  if (at.input(1).rank() != 1)
    return invalid("indices must be a vector, got shape ", at.input(1).dims());
  auto positions = to_integers(at.input(1));
  return std::vector<int64_t>{positions.begin(), positions.end()};
}

status stack_elements(kernel_context& at, tensor_array& from, std::span<const int64_t> positions) {
  TROUPE_TRY(check_type(from, at.output_type(0)));
  TROUPE_ASSIGN(auto values, from.read(at, positions, at.state<partial_shape>()));
  if (values.empty() && !from.dims().fully_known())
    return invalid(from.description(), ": of no elements, element_shape must say what shape each "
                                       "would have");
  std::vector<const tensor*> parts;
  for (const auto& value : values)
    parts.push_back(&value);
  TROUPE_ASSIGN(auto stacked,
                stack(parts, {.type = from.type(), .dims = from.dims()}, at.memory()));
  at.set_output(0, std::move(stacked));
  return {};
}

status run_gather(kernel_context& at) {
  TROUPE_ASSIGN(auto* from, array_at(at));
  TROUPE_ASSIGN(auto indices, indices_at(at));
  return stack_elements(at, *from, indices);
}

status run_pack(kernel_context& at) {
  TROUPE_ASSIGN(auto* from, array_at(at));
  TROUPE_ASSIGN(auto count, from->joined_size());
  return stack_elements(at, *from, first(count));
}

result<std::vector<tensor>> slices_of(kernel_context& at, const tensor& from) {
  if (from.rank() == 0)
    return invalid("value must have an axis, got a scalar");
  if (from.dims()[0] > max_elements)
    return failure(error_kind::resource_exhausted, "value has ", from.dims()[0],
                   " slices, and a TensorArray has at most ", max_elements, " elements");
  std::vector<tensor> slices;
  for (int64_t i = 0; i < from.dims()[0]; ++i) {
    TROUPE_ASSIGN(auto slice, slice_of(from, i, at.memory()));
    slices.push_back(std::move(slice));
  }
  return slices;
}

status run_scatter(kernel_context& at) {
  TROUPE_ASSIGN(auto* to, array_at(at));
  TROUPE_TRY(check_flow(at));
  TROUPE_ASSIGN(auto indices, indices_at(at));
  TROUPE_ASSIGN(auto slices, slices_of(at, at.input(2)));
  if (slices.size() != indices.size())
    return invalid("value must have one slice for each of ", indices.size(), " indices, got shape ",
                   at.input(2).dims());
  TROUPE_TRY(to->write(at, indices, std::move(slices), false));
  return hand_flow_on(at);
}

status run_unpack(kernel_context& at) {
  TROUPE_ASSIGN(auto* to, array_at(at));
  TROUPE_TRY(check_flow(at));
  TROUPE_ASSIGN(auto slices, slices_of(at, at.input(1)));
  auto positions = first(static_cast<int64_t>(slices.size()));
  TROUPE_TRY(to->write(at, positions, std::move(slices), true));
  return hand_flow_on(at);
}

status run_concat(kernel_context& at) {
  TROUPE_ASSIGN(auto* from, array_at(at));
  TROUPE_TRY(check_type(*from, at.output_type(0)));
  TROUPE_ASSIGN(auto count, from->joined_size());
  TROUPE_ASSIGN(auto values, from->read(at, first(count), partial_shape::unknown()));
  TROUPE_ASSIGN(auto joined_dims,
                with_axes(std::span{&unknown_extent, 1}, at.state<partial_shape>()));
  for (size_t i = 0; i < values.size(); ++i)
    if (!joined_dims.compatible(values[i].dims()))
      return invalid(from->description(), ": element ", i, " has shape ", values[i].dims(),
                     ", element_shape_except0 says ", at.state<partial_shape>());
  auto known_dims = from->dims();
  if (known_dims.has_rank() && known_dims.rank() > 0)
    known_dims.set(0, unknown_extent);
  TROUPE_ASSIGN(known_dims, merge(joined_dims, known_dims));
  return join_rows(at, values, known_dims);
}

status run_split(kernel_context& at) {
  TROUPE_ASSIGN(auto* to, array_at(at));
  TROUPE_TRY(check_flow(at));
  if (at.input(2).elements() > max_elements)
    return failure(error_kind::resource_exhausted, "a TensorArray has at most ", max_elements,
                   " elements, got ", at.input(2).elements(), " lengths");
  TROUPE_ASSIGN(auto parts, cut_rows(at, at.input(1), at.input(2)));
  auto positions = first(static_cast<int64_t>(parts.size()));
  TROUPE_TRY(to->write(at, positions, std::move(parts), true));
  return hand_flow_on(at);
}

status run_size(kernel_context& at) {
  TROUPE_ASSIGN(auto* array, array_at(at));
  TROUPE_ASSIGN(auto size, array->size());
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{}));
  *out->data<int32_t>() = static_cast<int32_t>(size);
  return {};
}

status run_close(kernel_context& at) {
  TROUPE_ASSIGN(auto* array, array_at(at));
  array->close();
  return {};
}

// -- tables ---------------------------------------------------------------------------------------

// One kernel serves the ops of all generations.
constexpr kernel_def plain(std::string_view op, kernel_fn run) {
  return {.op = op, .run = {{dtype::none, run}}};
}

constexpr kernel_def prepared(std::string_view op, kernel_fn run,
                              decltype(kernel_def::prepare) prepare) {
  return {.op = op, .run = {{dtype::none, run}}, .prepare = prepare};
}

constexpr auto with_source = cache_attr<std::string, "source">;
constexpr auto with_shape = cache_attr<partial_shape, "element_shape">;
constexpr auto with_rest = cache_attr<partial_shape, "element_shape_except0">;

} // namespace

// clang-format off
extern constexpr kernel_def tensor_array_v3_cpu = prepared("TensorArrayV3", run_array, prepare_array);
extern constexpr kernel_def tensor_array_v2_cpu = prepared("TensorArrayV2", run_array, prepare_array);
extern constexpr kernel_def tensor_array_grad_v3_cpu = prepared("TensorArrayGradV3", run_gradient, with_source);
extern constexpr kernel_def tensor_array_grad_v2_cpu = prepared("TensorArrayGradV2", run_gradient, with_source);
extern constexpr kernel_def tensor_array_grad_with_shape_cpu = prepared("TensorArrayGradWithShape", run_gradient, with_source);
extern constexpr kernel_def tensor_array_write_v3_cpu = plain("TensorArrayWriteV3", run_write);
extern constexpr kernel_def tensor_array_write_cpu = plain("TensorArrayWrite", run_write);
extern constexpr kernel_def tensor_array_read_v3_cpu = plain("TensorArrayReadV3", run_read);
extern constexpr kernel_def tensor_array_read_cpu = plain("TensorArrayRead", run_read);
extern constexpr kernel_def tensor_array_gather_v3_cpu = prepared("TensorArrayGatherV3", run_gather, with_shape);
extern constexpr kernel_def tensor_array_gather_cpu = prepared("TensorArrayGather", run_gather, with_shape);
extern constexpr kernel_def tensor_array_pack_cpu = prepared("TensorArrayPack", run_pack, with_shape);
extern constexpr kernel_def tensor_array_scatter_v3_cpu = plain("TensorArrayScatterV3", run_scatter);
extern constexpr kernel_def tensor_array_scatter_cpu = plain("TensorArrayScatter", run_scatter);
extern constexpr kernel_def tensor_array_unpack_cpu = plain("TensorArrayUnpack", run_unpack);
extern constexpr kernel_def tensor_array_concat_v3_cpu = prepared("TensorArrayConcatV3", run_concat, with_rest);
extern constexpr kernel_def tensor_array_concat_cpu = prepared("TensorArrayConcat", run_concat, with_rest);
extern constexpr kernel_def tensor_array_split_v3_cpu = plain("TensorArraySplitV3", run_split);
extern constexpr kernel_def tensor_array_split_cpu = plain("TensorArraySplit", run_split);
extern constexpr kernel_def tensor_array_size_v3_cpu = plain("TensorArraySizeV3", run_size);
extern constexpr kernel_def tensor_array_size_cpu = plain("TensorArraySize", run_size);
extern constexpr kernel_def tensor_array_close_v3_cpu = plain("TensorArrayCloseV3", run_close);
extern constexpr kernel_def tensor_array_close_cpu = plain("TensorArrayClose", run_close);
// clang-format on

} // namespace troupe::ops::tensor_array_cpu
