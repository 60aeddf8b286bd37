#include "troupe/ops/conv/shared/convolution.cuda.hpp"

#include "troupe/devices/deterministic/deterministic.hpp"
#include "troupe/devices/gpu/cuda/convolve.hpp"
#include "troupe/ops/kernel/copy.hpp"

namespace troupe::ops {
namespace {

using role = convolution_role;

// How cuDNN gets one of the three tensors: maybe with the channels elsewhere, and longer axes.
// `inside` has the axes [images, channels, depth, rows, columns] of what both have in common.
struct arrangement {
  bool needed = false;
  shape dims;              ///< of the arranged tensor, as memory
  strided_iterator inside; ///< operand 0: the tensor of the graph; operand 1: the arranged one
  int64_t first_given = 0, first_arranged = 0;
  bool whole_given = true, whole_arranged = true; ///< whether `inside` covers all of it
};

using strides = std::array<int64_t, 5>;
using extents = std::array<int64_t, 5>;

// Of images or filters [outer, channels, axes...] with the channels where they are.
strides strides_of(const extents& of, bool channels_last) {
  strides made{};
  int64_t step = 1;
  auto next = [&](size_t axis) {
    made[axis] = step;
    step *= of[axis];
  };
  if (channels_last)
    next(1);
  for (size_t axis = 5; axis-- > 2;)
    next(axis);
  if (!channels_last)
    next(1);
  next(0);
  return made;
}

shape memory_of(const extents& of, bool channels_last) {
  auto spatial = of[2] * of[3] * of[4];
  return channels_last ? shape{of[0], spatial, of[1]} : shape{of[0], of[1], spatial};
}

strided_iterator walk_in_order(const extents& of, const strides& given, const strides& arranged) {
  // The order of the arranged tensor, whose elements are then written one beside the other.
  std::array<size_t, 5> order{0, 1, 2, 3, 4};
  std::ranges::stable_sort(order, [&](auto a, auto b) { return arranged[a] > arranged[b]; });
  strided_iterator made;
  for (auto axis : order)
    made.push_back(of[axis], {given[axis], arranged[axis]});
  return made;
}

// An input of which cuDNN sees only what the windows reach: an axis begins `before` elements in
// front of it and has `reached`.
arrangement arrange_images(const convolution_shape& of, int64_t channels,
                           int64_t window_axis::*extent, const std::array<int64_t, 3>& before,
                           const std::array<int64_t, 3>& reached, bool channels_last) {
  extents given{of.images, channels}, made{of.images, channels}, common{of.images, channels};
  auto padded = false;
  for (size_t i = 0; i < 3; ++i) {
    given[i + 2] = of.axes[i].*extent;
    made[i + 2] = reached[i];
    common[i + 2] = std::clamp<int64_t>(reached[i] - before[i], 0, given[i + 2]);
    padded = padded || before[i] != 0 || reached[i] != given[i + 2];
  }
  auto turned = channels_last == of.channels_first;
  arrangement to;
  to.needed = padded || turned;
  to.dims = memory_of(made, channels_last);
  if (!to.needed)
    return to;
  auto from = strides_of(given, !of.channels_first), into = strides_of(made, channels_last);
  to.inside = walk_in_order(common, from, into);
  for (size_t i = 0; i < 3; ++i)
    to.first_arranged += before[i] * into[i + 2];
  to.whole_given = common == given;
  to.whole_arranged = common == made;
  return to;
}

// Filters are [axes..., in_channels / groups, out_channels] in graphs.
arrangement arrange_filter(const convolution_shape& of, bool channels_last) {
  extents all{of.out_channels, of.group_inputs(), of.axes[0].size, of.axes[1].size,
              of.axes[2].size};
  strides given{};
  given[0] = 1;
  given[1] = all[0];
  given[4] = all[0] * all[1];
  given[3] = given[4] * all[4];
  given[2] = given[3] * all[3];
  return {.needed = true,
          .dims = memory_of(all, channels_last),
          .inside = walk_in_order(all, given, strides_of(all, channels_last))};
}

// The tensor as cuDNN gets it, with its elements where `read`.
result<tensor> arranged(kernel_context& at, const arrangement& as, const tensor& given, bool read) {
  if (!as.needed)
    return given;
  TROUPE_ASSIGN(auto made, tensor::make(given.type(), as.dims, at.memory()));
  if (read && !as.whole_arranged)
    fill_zeros(at, made);
  if (read && as.inside.elements() > 0)
    copy_between(at, as.inside, {given, as.first_given}, {made, as.first_arranged});
  return made;
}

// Brings back what cuDNN has written.
void give_back(kernel_context& at, const arrangement& as, const tensor& made, const tensor& to) {
  if (!as.needed)
    return;
  strided_iterator back;
  for (int axis = 0; axis < as.inside.rank(); ++axis)
    back.push_back(as.inside.extent(axis), {as.inside.stride(axis, 1), as.inside.stride(axis, 0)});
  if (!as.whole_given)
    fill_zeros(at, to);
  if (as.inside.elements() > 0)
    copy_between(at, back, {made, as.first_arranged}, {to, as.first_given});
}

gpu::convolved target(role computes) {
  switch (computes) {
    case role::input: return gpu::convolved::input;
    case role::filter: return gpu::convolved::filter;
    default: return gpu::convolved::output;
  }
}

// input, filter and output, one of which is computed.
struct three_tensors {
  tensor input, filter, output;
};

gpu::epilogue end_of(kernel_context& at) {
  const auto& end = at.state<convolution_setup>().end;
  return {.bias = end.bias ? at.input(2).raw() : nullptr, .rectify = end.rectify};
}

status compute(kernel_context& at, const convolution_shape& of, role computes, dtype type,
               bool channels_last, const three_tensors& given) {
  gpu::convolution what{.computes = target(computes),
                        .type = type,
                        .channels_last = channels_last,
                        .spatial = of.spatial,
                        .images = of.images,
                        .in_channels = of.in_channels,
                        .out_channels = of.out_channels,
                        .groups = of.groups,
                        .deterministic = at.device().deterministic()};
  std::array<int64_t, 3> before{}, reached{};
  for (size_t i = 0; i < 3; ++i) {
    const auto& axis = of.axes[i];
    // cuDNN pads both ends by as much, which makes other windows where they should differ.
    auto windows = (axis.in + 2 * axis.before - axis.reach()) / axis.stride + 1;
    auto same = axis.in + 2 * axis.before >= axis.reach() && windows == axis.out;
    before[i] = same ? 0 : axis.before;
    reached[i] = same ? axis.in : (axis.out - 1) * axis.stride + axis.reach();
    what.axes[i] = {.in = reached[i],
                    .size = axis.size,
                    .stride = axis.stride,
                    .dilation = axis.dilation,
                    .pad = same ? axis.before : 0,
                    .out = axis.out};
  }
  auto input_as =
      arrange_images(of, of.in_channels, &window_axis::in, before, reached, channels_last);
  auto output_as = arrange_images(of, of.out_channels, &window_axis::out, {},
                                  {of.axes[0].out, of.axes[1].out, of.axes[2].out}, channels_last);
  auto filter_as = arrange_filter(of, channels_last);
  TROUPE_ASSIGN(auto input, arranged(at, input_as, given.input, computes != role::input));
  TROUPE_ASSIGN(auto filter, arranged(at, filter_as, given.filter, computes != role::filter));
  TROUPE_ASSIGN(auto output, arranged(at, output_as, given.output, computes != role::output));
  TROUPE_TRY(gpu::convolve(gpu::gpu_of(at.device()), at.memory(), what, input.raw(), filter.raw(),
                           output.raw(), end_of(at)));
  switch (computes) {
    case role::input: give_back(at, input_as, input, given.input); break;
    case role::filter: give_back(at, filter_as, filter, given.filter); break;
    default: give_back(at, output_as, output, given.output);
  }
  return {};
}

// Where nothing is added up but the bias.
status fill_with_bias(kernel_context& at, const convolution_shape& of, tensor& out) {
  fill_zeros(at, out);
  auto end = end_of(at);
  if (!end.bias)
    return {};
  return gpu::add_bias(gpu::gpu_of(at.device()),
                       {.values = out.raw(),
                        .type = out.type(),
                        .outer = of.channels_first ? of.images : of.images * of.outputs(),
                        .channels = of.out_channels,
                        .inner = of.channels_first ? of.outputs() : 1},
                       end);
}

} // namespace

status convolve_on_gpu(kernel_context& at) {
  const auto& state = at.state<convolution_setup>();
  auto computes = state.form.computes;
  TROUPE_ASSIGN(auto what, task_of(at, state));
  TROUPE_ASSIGN(auto* out, at.allocate(0, what.result));
  if (out->elements() == 0)
    return {};
  if (what.of.multiplications() == 0)
    return fill_with_bias(at, what.of, *out);
  const auto& first = at.input(computes == role::input ? 1 : 0);
  const auto& second = at.input(computes == role::output ? 1 : 2);
  auto given = computes == role::input    ? three_tensors{*out, first, second}
               : computes == role::filter ? three_tensors{first, *out, second}
                                          : three_tensors{first, second, *out};
  // Doubles have few algorithms with the channels last; others have those that tensor cores run.
  if (!what.of.channels_first && out->type() != dtype::f64) {
    auto done = compute(at, what.of, computes, out->type(), true, given);
    if (done || done.kind() != error_kind::unimplemented)
      return done;
  }
  return compute(at, what.of, computes, out->type(), false, given);
}

} // namespace troupe::ops
