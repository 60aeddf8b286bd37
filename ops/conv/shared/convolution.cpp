#include "troupe/ops/conv/shared/convolution.hpp"

#include "troupe/ops/define/build.hpp"
#include "troupe/ops/define/dims.hpp"

namespace troupe::ops {
namespace {

using role = convolution_role;

constexpr std::string_view names[3][3] = {
    {"Conv2DBackpropInput", "Conv2DBackpropFilter", "Conv2D"},
    {"DepthwiseConv2dNativeBackpropInput", "DepthwiseConv2dNativeBackpropFilter",
     "DepthwiseConv2dNative"},
    {"Conv3DBackpropInputV2", "Conv3DBackpropFilterV2", "Conv3D"},
};

std::string name_of(convolution_family family, role computes) {
  return std::string{names[static_cast<size_t>(family)][static_cast<size_t>(computes)]};
}

// A convolution takes input and filter. A gradient takes all three tensors, but only the sizes of
// the tensor that it computes.
constexpr role roles[] = {role::input, role::filter, role::output};

// The shape that the sizes at input i list, merged with the known shape of the tensor they
// describe.
result<partial_shape> described(const infer_context& at, int i, int rank) {
  TROUPE_ASSIGN(auto dims, listed_extents(at, i));
  TROUPE_ASSIGN(auto merged, merge(dims, partial_shape::of_rank(rank)));
  return merged;
}

double count(const partial_shape& dims) {
  double product = 1;
  for (auto extent : dims.extents())
    product *= static_cast<double>(std::max<int64_t>(1, extent));
  return product;
}

} // namespace

double convolution_shape::multiplications() const {
  return static_cast<double>(images) * static_cast<double>(outputs()) *
         static_cast<double>(window()) * static_cast<double>(group_inputs()) *
         static_cast<double>(out_channels);
}

result<convolution_shape> fit_convolution(const window_options& options, bool depthwise,
                                          const shape& input, const shape& filter) {
  if (input.rank() != options.rank() || filter.rank() != options.rank())
    return invalid("takes an input and a filter with ", options.rank(), " axes, got shapes ", input,
                   " and ", filter);
  auto per_group = filter[options.spatial], last = filter[options.spatial + 1];
  convolution_shape geometry{options.spatial, options.channels_first, input[0],
                             input[options.channel_axis()], last};
  std::vector<int64_t> sizes{filter.begin(), filter.begin() + options.spatial};
  TROUPE_ASSIGN(geometry.axes, options.place(input, sizes));
  if (depthwise) {
    if (per_group != geometry.in_channels)
      return invalid("the filter ", filter, " must have ", geometry.in_channels,
                     " input channels, as the input ", input);
    geometry.groups = std::max<int64_t>(1, geometry.in_channels);
    if (__builtin_mul_overflow(last, geometry.in_channels, &geometry.out_channels))
      return invalid("a filter of shape ", filter, " is too large");
    return geometry;
  }
  if (geometry.in_channels == per_group)
    return geometry;
  if (per_group < 1 || geometry.in_channels % per_group != 0)
    return invalid("the ", geometry.in_channels, " channels of the input ", input,
                   " must be a multiple of the ", per_group, " of the filter ", filter);
  geometry.groups = geometry.in_channels / per_group;
  if (geometry.groups == 0 || last % geometry.groups != 0)
    return invalid("the ", last, " output channels of the filter ", filter,
                   " must be a multiple of the ", geometry.groups, " groups of channels");
  return geometry;
}

result<shape> output_of(const window_options& options, const convolution_shape& geometry) {
  return options.tensor_shape(geometry.images, geometry.out_channels, geometry.axes,
                              &window_axis::out);
}

result<partial_shape> infer_convolved(const window_options& options, bool depthwise,
                                      const partial_shape& input, const partial_shape& filter) {
  auto channels_in = options.channel_axis();
  std::vector<int64_t> extents(static_cast<size_t>(options.rank()), unknown_extent);
  if (input.has_rank())
    extents[0] = input[0];
  if (filter.has_rank()) {
    auto per_group = filter[options.spatial], out = filter[options.spatial + 1];
    if (depthwise && out != unknown_extent) {
      auto in = input.has_rank() && input[channels_in] >= 0 ? input[channels_in] : per_group;
      if (in == unknown_extent)
        out = unknown_extent;
      else if (__builtin_mul_overflow(out, in, &out))
        return invalid("a filter of shape ", filter, " is too large");
    }
    extents[static_cast<size_t>(channels_in)] = out;
  }
  if (input.has_rank())
    for (int i = 0; i < options.spatial; ++i) {
      auto size = filter.has_rank() ? filter[i] : unknown_extent;
      TROUPE_ASSIGN(extents[static_cast<size_t>(options.axis(i))],
                    options.windows(i, input[options.axis(i)], size));
    }
  if (input.fully_known() && filter.fully_known())
    TROUPE_TRY(fit_convolution(options, depthwise, input.known(), filter.known()).status());
  return partial_shape::make(extents);
}

result<shapes> infer_convolution(const infer_context& at, convolution_form form) {
  TROUPE_ASSIGN(auto options, read_windows(at, form.windows()));
  auto rank = options.rank();
  if (form.computes == role::output) {
    TROUPE_ASSIGN(auto input, at.of_rank(0, rank));
    TROUPE_ASSIGN(auto filter, at.of_rank(1, rank));
    TROUPE_ASSIGN(auto output, infer_convolved(options, form.depthwise(), input, filter));
    return shapes{output};
  }
  auto sizes_at = form.computes == role::input ? 0 : 1;
  TROUPE_ASSIGN(auto computed, described(at, sizes_at, rank));
  TROUPE_ASSIGN(auto other, at.of_rank(1 - sizes_at, rank));
  TROUPE_ASSIGN(auto output, at.of_rank(2, rank));
  const auto &input = sizes_at == 0 ? computed : other, &filter = sizes_at == 0 ? other : computed;
  TROUPE_ASSIGN(auto expected, infer_convolved(options, form.depthwise(), input, filter));
  if (!output.compatible(expected))
    return at.invalid("out_backprop must have shape ", expected, ", got ", output);
  return shapes{computed};
}

edges convolution_gradient(gradient_context& at, convolution_form form) {
  auto computes = form.computes;
  auto inputs = computes == role::output ? 2 : 3;
  edge operands[3];
  for (int i = 0; i < inputs; ++i)
    operands[i] = at.input(i);
  operands[static_cast<size_t>(computes)] = at.output_gradient(0);
  attr_map attrs;
  for (auto name : {"strides", "padding", "explicit_paddings", "data_format", "dilations"})
    if (auto attribute = at.source_node().attrs().find(name);
        attribute != at.source_node().attrs().end())
      attrs.insert(*attribute);
  edges gradients;
  for (int i = 0; i < inputs; ++i) {
    auto target = roles[i];
    if (target == computes) { // the sizes
      gradients.push_back({});
      continue;
    }
    auto sizes = target == role::output ? edge{} : cast_to(shape_of(at.input(i)), dtype::i32);
    auto arguments = target == role::output  ? std::vector{operands[0], operands[1]}
                     : target == role::input ? std::vector{sizes, operands[1], operands[2]}
                                             : std::vector{operands[0], sizes, operands[2]};
    gradients.push_back(at.op(name_of(form.family, target), std::move(arguments), attrs));
  }
  return gradients;
}

double convolution_flops(const node& from_node, convolution_form form) {
  const auto& output =
      form.computes == role::output ? from_node.output_shape(0) : from_node.inputs()[2].dims();
  const auto& filter =
      form.computes == role::filter ? from_node.output_shape(0) : from_node.inputs()[1].dims();
  if (!output.has_rank() || !filter.has_rank())
    return 1;
  // Each output channel sums over the filter's other axes.
  auto channels = static_cast<double>(std::max<int64_t>(1, filter[filter.rank() - 1]));
  if (!form.depthwise())
    return 2 * count(output) * count(filter) / channels;
  auto groups = static_cast<double>(std::max<int64_t>(1, filter[filter.rank() - 2]));
  return 2 * count(output) * count(filter) / (channels * groups);
}

} // namespace troupe::ops
