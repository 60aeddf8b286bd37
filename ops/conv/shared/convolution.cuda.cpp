#include "troupe/ops/conv/shared/convolution.cuda.hpp"

#include "troupe/devices/deterministic/deterministic.hpp"
#include "troupe/devices/gpu/cuda/convolve.hpp"
#include "troupe/ops/kernel/copy.hpp"

namespace troupe::ops {
namespace {

using role = convolution_role;

// How cuDNN sees one of the three tensors: the channels may move, and axes may be padded. `inside`
// walks the elements that both layouts have, with the axes [images, channels, depth, rows,
// columns].
struct arrangement {
  bool needed = false;
  shape dims;              ///< of the arranged tensor, as memory
  strided_iterator inside; ///< operand 0: the graph's tensor; operand 1: the arranged one
  int64_t first_given = 0, first_arranged = 0;
  bool whole_given = true, whole_arranged = true; ///< whether `inside` covers that tensor
};

using strides = std::array<int64_t, 5>;
using extents = std::array<int64_t, 5>;

// The strides of images or filters, whose extents are [outer, channels, axes...].
strides strides_of(const extents& sizes, bool channels_last) {
  strides steps{};
  int64_t step = 1;
  auto next = [&](size_t axis) {
    steps[axis] = step;
    step *= sizes[axis];
  };
  if (channels_last)
    next(1);
  for (size_t axis = 5; axis-- > 2;)
    next(axis);
  if (!channels_last)
    next(1);
  next(0);
  return steps;
}

shape memory_of(const extents& sizes, bool channels_last) {
  auto spatial = sizes[2] * sizes[3] * sizes[4];
  return channels_last ? shape{sizes[0], spatial, sizes[1]} : shape{sizes[0], sizes[1], spatial};
}

strided_iterator walk_in_order(const extents& sizes, const strides& given,
                               const strides& arranged) {
  // In the order of the arranged tensor, so that its elements are written one after another.
  std::array<size_t, 5> order{0, 1, 2, 3, 4};
  std::ranges::stable_sort(order, [&](auto a, auto b) { return arranged[a] > arranged[b]; });
  strided_iterator walk;
  for (auto axis : order)
    walk.push_back(sizes[axis], {given[axis], arranged[axis]});
  return walk;
}

// An input of which cuDNN sees only the part that windows cover: each axis starts `before` elements
// ahead of the input's and has the extent `reached`.
arrangement arrange_images(const convolution_shape& geometry, int64_t channels,
                           int64_t window_axis::*extent, const std::array<int64_t, 3>& before,
                           const std::array<int64_t, 3>& reached, bool channels_last) {
  extents given{geometry.images, channels}, arranged_sizes{geometry.images, channels},
      common{geometry.images, channels};
  auto padded = false;
  for (size_t i = 0; i < 3; ++i) {
    given[i + 2] = geometry.axes[i].*extent;
    arranged_sizes[i + 2] = reached[i];
    common[i + 2] = std::clamp<int64_t>(reached[i] - before[i], 0, given[i + 2]);
    padded = padded || before[i] != 0 || reached[i] != given[i + 2];
  }
  auto turned = channels_last == geometry.channels_first;
  arrangement to;
  to.needed = padded || turned;
  to.dims = memory_of(arranged_sizes, channels_last);
  if (!to.needed)
    return to;
  auto from = strides_of(given, !geometry.channels_first),
       into = strides_of(arranged_sizes, channels_last);
  to.inside = walk_in_order(common, from, into);
  for (size_t i = 0; i < 3; ++i)
    to.first_arranged += before[i] * into[i + 2];
  to.whole_given = common == given;
  to.whole_arranged = common == arranged_sizes;
  return to;
}

// Filters are [axes..., in_channels / groups, out_channels] in graphs.
arrangement arrange_filter(const convolution_shape& geometry, bool channels_last) {
  extents sizes{geometry.out_channels, geometry.group_inputs(), geometry.axes[0].size,
                geometry.axes[1].size, geometry.axes[2].size};
  strides steps{};
  steps[0] = 1;
  steps[1] = sizes[0];
  steps[4] = sizes[0] * sizes[1];
  steps[3] = steps[4] * sizes[4];
  steps[2] = steps[3] * sizes[3];
  return {.needed = true,
          .dims = memory_of(sizes, channels_last),
          .inside = walk_in_order(sizes, steps, strides_of(sizes, channels_last))};
}

// The tensor in cuDNN's layout; its elements are copied only if `read`.
result<tensor> arranged(kernel_context& at, const arrangement& layout, const tensor& from_graph,
                        bool read) {
  if (!layout.needed)
    return from_graph;
  TROUPE_ASSIGN(auto arranged_tensor, tensor::make(from_graph.type(), layout.dims, at.memory()));
  if (read && !layout.whole_arranged)
    fill_zeros(at, arranged_tensor);
  if (read && layout.inside.elements() > 0)
    copy_between(at, layout.inside, {from_graph, layout.first_given},
                 {arranged_tensor, layout.first_arranged});
  return arranged_tensor;
}

// Copies cuDNN's result back to the graph's layout.
void give_back(kernel_context& at, const arrangement& layout, const tensor& arranged_tensor,
               const tensor& to) {
  if (!layout.needed)
    return;
  strided_iterator back;
  for (int axis = 0; axis < layout.inside.rank(); ++axis)
    back.push_back(layout.inside.extent(axis),
                   {layout.inside.stride(axis, 1), layout.inside.stride(axis, 0)});
  if (!layout.whole_given)
    fill_zeros(at, to);
  if (layout.inside.elements() > 0)
    copy_between(at, back, {arranged_tensor, layout.first_arranged}, {to, layout.first_given});
}

gpu::convolved target(role computes) {
  switch (computes) {
    case role::input: return gpu::convolved::input;
    case role::filter: return gpu::convolved::filter;
    default: return gpu::convolved::output;
  }
}

// The input, the filter and the output; one of them is computed.
struct three_tensors {
  tensor input, filter, output;
};

gpu::epilogue end_of(kernel_context& at) {
  const auto& end = at.state<convolution_setup>().end;
  return {.bias = end.bias ? at.input(2).raw() : nullptr, .rectify = end.rectify};
}

status compute(kernel_context& at, const convolution_shape& geometry, role computes, dtype type,
               bool channels_last, const three_tensors& tensors) {
  gpu::convolution description{.computes = target(computes),
                               .type = type,
                               .channels_last = channels_last,
                               .spatial = geometry.spatial,
                               .images = geometry.images,
                               .in_channels = geometry.in_channels,
                               .out_channels = geometry.out_channels,
                               .groups = geometry.groups,
                               .deterministic = at.device().deterministic()};
  std::array<int64_t, 3> before{}, reached{};
  for (size_t i = 0; i < 3; ++i) {
    const auto& axis = geometry.axes[i];
    // cuDNN pads both ends by the same amount. Where the paddings differ, that would make other
    // windows.
    auto windows = (axis.in + 2 * axis.before - axis.reach()) / axis.stride + 1;
    auto same = axis.in + 2 * axis.before >= axis.reach() && windows == axis.out;
    before[i] = same ? 0 : axis.before;
    reached[i] = same ? axis.in : (axis.out - 1) * axis.stride + axis.reach();
    description.axes[i] = {.in = reached[i],
                           .size = axis.size,
                           .stride = axis.stride,
                           .dilation = axis.dilation,
                           .pad = same ? axis.before : 0,
                           .out = axis.out};
  }
  auto input_as = arrange_images(geometry, geometry.in_channels, &window_axis::in, before, reached,
                                 channels_last);
  auto output_as = arrange_images(
      geometry, geometry.out_channels, &window_axis::out, {},
      {geometry.axes[0].out, geometry.axes[1].out, geometry.axes[2].out}, channels_last);
  auto filter_as = arrange_filter(geometry, channels_last);
  TROUPE_ASSIGN(auto input, arranged(at, input_as, tensors.input, computes != role::input));
  TROUPE_ASSIGN(auto filter, arranged(at, filter_as, tensors.filter, computes != role::filter));
  TROUPE_ASSIGN(auto output, arranged(at, output_as, tensors.output, computes != role::output));
  TROUPE_TRY(gpu::convolve(gpu::gpu_of(at.device()), at.memory(), description, input.raw(),
                           filter.raw(), output.raw(), end_of(at)));
  switch (computes) {
    case role::input: give_back(at, input_as, input, tensors.input); break;
    case role::filter: give_back(at, filter_as, filter, tensors.filter); break;
    default: give_back(at, output_as, output, tensors.output);
  }
  return {};
}

// Fills the output with the bias where there are no products to sum.
status fill_with_bias(kernel_context& at, const convolution_shape& geometry, tensor& out) {
  fill_zeros(at, out);
  auto end = end_of(at);
  if (!end.bias)
    return {};
  return gpu::add_bias(
      gpu::gpu_of(at.device()),
      {.values = out.raw(),
       .type = out.type(),
       .outer = geometry.channels_first ? geometry.images : geometry.images * geometry.outputs(),
       .channels = geometry.out_channels,
       .inner = geometry.channels_first ? geometry.outputs() : 1},
      end);
}

} // namespace

status convolve_on_gpu(kernel_context& at) {
  const auto& state = at.state<convolution_setup>();
  auto computes = state.form.computes;
  TROUPE_ASSIGN(auto task, task_of(at, state));
  TROUPE_ASSIGN(auto* out, at.allocate(0, task.result));
  if (out->elements() == 0)
    return {};
  if (task.geometry.multiplications() == 0)
    return fill_with_bias(at, task.geometry, *out);
  const auto& first = at.input(computes == role::input ? 1 : 0);
  const auto& second = at.input(computes == role::output ? 1 : 2);
  auto tensors = computes == role::input    ? three_tensors{*out, first, second}
                 : computes == role::filter ? three_tensors{first, *out, second}
                                            : three_tensors{first, second, *out};
  // cuDNN has few algorithms for doubles with the channels last. For the other types it has those
  // that use tensor cores.
  if (!task.geometry.channels_first && out->type() != dtype::f64) {
    auto done = compute(at, task.geometry, computes, out->type(), true, tensors);
    if (done || done.kind() != error_kind::unimplemented)
      return done;
  }
  return compute(at, task.geometry, computes, out->type(), false, tensors);
}

} // namespace troupe::ops
