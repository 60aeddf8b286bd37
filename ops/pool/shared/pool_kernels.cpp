#include "troupe/ops/pool/shared/pool_kernels.hpp"

namespace troupe::ops {

result<pooling> make_pooling(const kernel_context& at, const shape& dims) {
  const auto& options = at.state<pool_state>().options;
  pooling made;
  TROUPE_ASSIGN(made.axes, options.place(dims, options.sizes));
  double elements = 1;
  for (const auto& axis : made.axes)
    elements *= static_cast<double>(axis.size);
  if (elements > INT32_MAX)
    return invalid("windows of ", elements, " elements are too large");
  made.input = dims;
  made.images = dims[0];
  made.channels = dims[options.channel_axis()];
  TROUPE_ASSIGN(made.output,
                options.tensor_shape(made.images, made.channels, made.axes, &window_axis::out));
  if (options.channels_first) {
    made.images *= made.channels;
    made.channels = 1;
  }
  return made;
}

status expect_dims(const tensor& given, const shape& expected, std::string_view name) {
  if (given.dims() == expected)
    return {};
  return invalid(name, " must have shape ", expected, ", got ", given.dims());
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
