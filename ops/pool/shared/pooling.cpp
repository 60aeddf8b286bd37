#include "troupe/ops/pool/shared/pooling.hpp"

#include "troupe/ops/define/dims.hpp"

namespace troupe::ops {

result<partial_shape> infer_pooled(const infer_context& at, const window_form& form,
                                   const partial_shape& dims) {
  TROUPE_ASSIGN(auto options, read_windows(at, form));
  TROUPE_ASSIGN(auto pooled, merge(dims, partial_shape::of_rank(options.rank())));
  for (int i = 0; i < options.spatial; ++i) {
    auto axis = options.axis(i);
    TROUPE_ASSIGN(auto windows,
                  options.windows(i, pooled[axis], options.sizes[static_cast<size_t>(i)]));
    pooled.set(axis, windows);
  }
  return pooled;
}

result<shapes> infer_pool_gradient(const infer_context& at, const window_form& form, int like_input,
                                   bool pooled) {
  auto input = at.input(0);
  if (like_input > 0) {
    TROUPE_ASSIGN(input, merge(input, at.input(like_input)));
  }
  TROUPE_ASSIGN(auto windows, infer_pooled(at, form, input));
  for (int i = 1; i < at.inputs(); ++i)
    if (i != like_input) {
      TROUPE_ASSIGN(windows, merge(windows, at.input(i)));
    }
  if (pooled)
    return shapes{windows};
  TROUPE_ASSIGN(auto dims, merge(input, partial_shape::of_rank(form.spatial + 2)));
  return shapes{dims};
}

result<shapes> infer_average_gradient(const infer_context& at, const window_form& form) {
  TROUPE_ASSIGN(auto listed, listed_extents(at, 0));
  TROUPE_ASSIGN(auto dims, merge(listed, partial_shape::of_rank(form.spatial + 2)));
  TROUPE_ASSIGN(auto windows, infer_pooled(at, form, dims));
  TROUPE_TRY(merge(windows, at.input(1)).status());
  return shapes{dims};
}

edge pool_like(gradient_context& at, std::string op, std::vector<edge> inputs) {
  attr_map attrs;
  for (auto name : {"ksize", "strides", "padding", "explicit_paddings", "data_format",
                    "include_batch_in_index"})
    if (auto attribute = at.source_node().attrs().find(name);
        attribute != at.source_node().attrs().end())
      attrs.insert(*attribute);
  return at.op(std::move(op), std::move(inputs), std::move(attrs));
}

} // namespace troupe::ops
