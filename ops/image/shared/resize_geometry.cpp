#include "troupe/ops/image/shared/resize_geometry.hpp"

namespace troupe::ops {

result<std::array<int64_t, 2>> size_at(const kernel_context& at, int i) {
  auto size = to_integers(at.input(i));
  if (at.input(i).rank() != 1 || size.size() != 2 || size[0] <= 0 || size[1] <= 0)
    return invalid("the size must list a positive height and width, got shape ",
                   at.input(i).dims());
  return std::array{size[0], size[1]};
}

status check_images(const shape& dims) {
  if (dims.rank() != 4 || dims[1] == 0 || dims[2] == 0 || dims[3] == 0)
    return invalid("images must be [batch, height, width, channels], and not empty, got ", dims);
  return {};
}

result<shape> resized_shape(const kernel_context& at) {
  const auto& dims = at.input(0).dims();
  TROUPE_TRY(check_images(dims));
  TROUPE_ASSIGN(auto size, size_at(at, 1));
  return shape::make(std::array{dims[0], size[0], size[1], dims[3]});
}

status check_resized(const shape& gradients, const shape& images) {
  TROUPE_TRY(check_images(gradients));
  TROUPE_TRY(check_images(images));
  if (gradients[0] == images[0] && gradients[3] == images[3])
    return {};
  return invalid("gradients and images must agree in batch and channels, got ", gradients, " and ",
                 images);
}

} // namespace troupe::ops
