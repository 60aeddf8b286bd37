#include "troupe/ops/pool/shared/pool_kernels.hpp"

namespace troupe::ops {

result<pooling> make_pooling(const kernel_context& at, const shape& dims) {
  const auto& options = at.state<pool_state>().options;
  pooling geometry;
  TROUPE_ASSIGN(geometry.axes, options.place(dims, options.sizes));
  double elements = 1;
  for (const auto& axis : geometry.axes)
    elements *= static_cast<double>(axis.size);
  if (elements > INT32_MAX)
    return invalid("windows of ", elements, " elements are too large");
  geometry.input = dims;
  geometry.images = dims[0];
  geometry.channels = dims[options.channel_axis()];
  TROUPE_ASSIGN(geometry.output, options.tensor_shape(geometry.images, geometry.channels,
                                                      geometry.axes, &window_axis::out));
  if (options.channels_first) {
    geometry.images *= geometry.channels;
    geometry.channels = 1;
  }
  return geometry;
}

status expect_dims(const tensor& actual, const shape& expected, std::string_view name) {
  if (actual.dims() == expected)
    return {};
  return invalid(name, " must have shape ", expected, ", got ", actual.dims());
}

status expect_places(const kernel_context& at, const tensor& input) {
  if (at.output_type(1) == dtype::i32 && input.elements() > INT32_MAX)
    return invalid("places in ", input.elements(), " elements need 64 bits");
  return {};
}

result<pooling> make_pooling_of_sizes(const kernel_context& at, const tensor& sizes) {
  if (sizes.rank() != 1)
    return invalid("orig_input_shape must be a vector, got shape ", sizes.dims());
  TROUPE_ASSIGN(auto dims, shape::make(to_integers(sizes)));
  return make_pooling(at, dims);
}

} // namespace troupe::ops
