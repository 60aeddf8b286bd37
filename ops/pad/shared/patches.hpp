// The pixels of the patches of ExtractImagePatches.
#pragma once
#include "troupe/runtime/types/shape.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace troupe::ops {

/// The patches along one axis of an image.
struct patch_axis {
  int64_t size, stride, rate; ///< rate: the distance between the pixels of a patch
};

struct patch_layout {
  std::array<patch_axis, 2> axes; ///< rows and columns
  bool same_padding;

  /// Reads the attributes of a node, or of a shape function's context.
  template <class Node>
  static result<patch_layout> of(const Node& of);
};

/// The start of the first patch relative to the image, and the number of patches.
struct patch_places {
  int64_t before = 0, count = 0;
};

inline result<patch_places> place_patches(int64_t extent, const patch_axis& patch,
                                          bool same_padding) {
  int64_t reach = 0; // the extent of a patch, gaps included
  if (__builtin_mul_overflow(patch.size - 1, patch.rate, &reach) || reach == INT64_MAX)
    return invalid("patches of ", patch.size, " pixels at a rate of ", patch.rate, " are too much");
  ++reach;
  if (!same_padding)
    return patch_places{0, extent < reach ? 0 : (extent - reach) / patch.stride + 1};
  auto count = extent / patch.stride + (extent % patch.stride != 0);
  auto covered = count > 0 ? (count - 1) * patch.stride : 0;
  auto missing = std::max<int64_t>(reach - (extent - covered), 0);
  return patch_places{missing / 2, count};
}

template <class Node>
result<patch_layout> patch_layout::of(const Node& of) {
  patch_layout layout{};
  const std::array names{"ksizes", "strides", "rates"};
  for (size_t k = 0; k < names.size(); ++k) {
    const auto& list = of.template attr<std::vector<int64_t>>(names[k]);
    if (list.size() != 4 || list[0] != 1 || list[3] != 1 || list[1] < 1 || list[2] < 1)
      return invalid(names[k], " must list 1, two positive numbers, and 1");
    for (size_t i = 0; i < 2; ++i)
      (k == 0   ? layout.axes[i].size
       : k == 1 ? layout.axes[i].stride
                : layout.axes[i].rate) = list[i + 1];
  }
  const auto& padding = of.template attr<std::string>("padding");
  if (padding != "SAME" && padding != "VALID")
    return invalid("padding must be SAME or VALID, got '", padding, "'");
  layout.same_padding = padding == "SAME";
  return layout;
}

} // namespace troupe::ops
