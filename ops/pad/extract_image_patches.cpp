// ExtractImagePatches: the neighbourhoods of pixels as channels.
#include "troupe/ops/index/shared/positions.hpp"
#include "troupe/ops/pad/shared/patches.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::extract_image_patches_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, at.of_rank(0, 4));
  TROUPE_ASSIGN(auto layout, patch_layout::of(at));
  auto out = dims;
  auto depth = dims[3];
  for (int i = 0; i < 2; ++i) {
    const auto& axis = layout.axes[static_cast<size_t>(i)];
    if (dims[i + 1] != unknown_extent) {
      TROUPE_ASSIGN(auto places, place_patches(dims[i + 1], axis, layout.same_padding));
      out.set(i + 1, places.count);
    }
    if (depth != unknown_extent && __builtin_mul_overflow(depth, axis.size, &depth))
      return at.invalid("patches of ", axis.size, " pixels are too much");
  }
  out.set(3, depth);
  TROUPE_ASSIGN(auto checked, partial_shape::make(out.extents()));
  return shapes{checked};
}

// The positions count from 1, so that the padding's zeros become -1, which is dropped.
edges gradient(gradient_context& at) {
  auto x = at.input(0);
  attr_map same{{"padding", at.attr<std::string>("padding")}};
  for (const auto* name : {"ksizes", "strides", "rates"})
    same.emplace(name, at.attr<std::vector<int64_t>>(name));
  auto from = build("ExtractImagePatches", {positions_of(x, 1)}, same);
  return {summed_at(from - scalar_like(from, 1), at.output_gradient(0), x)};
}

} // namespace

extern constexpr op_def extract_image_patches{
    .name = "ExtractImagePatches",
    .doc = "Gives each patch of ksizes pixels of an image as channels of one pixel.\n\nPatches are "
           "strides apart, their own pixels rates. The lists are about batch, rows, columns and "
           "channels; those for batch and channels must be 1. With padding SAME, patches reach "
           "over the edges, where there are zeros; with VALID, they lie within the image.",
    .inputs = {{"images", "T"}},
    .outputs = {{"patches", "T"}},
    .attrs = {{"ksizes", attr_kind::integers},
              {"strides", attr_kind::integers},
              {"rates", attr_kind::integers},
              {"T", numbers | one_of(dtype::boolean)},
              {"padding", attr_kind::text}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
x = f32[[[[1], [2], [3]], [[4], [5], [6]]]]
y = ExtractImagePatches(x) ksizes=[1,2,2,1] strides=[1,1,1,1] rates=[1,1,1,1] padding="VALID"
z = ExtractImagePatches(x) ksizes=[1,1,2,1] strides=[1,2,2,1] rates=[1,1,1,1] padding="SAME"
fetch y = f32[[[[1, 2, 4, 5], [2, 3, 5, 6]]]]
fetch z = f32[[[[1, 2], [3, 0]]]]
)",
};

} // namespace troupe::ops::extract_image_patches_op
