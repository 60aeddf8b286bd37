#include "troupe/ops/index/shared/top_k.hpp"

#include "troupe/ops/index/shared/order_keys.hpp"
#include "troupe/ops/index/shared/positions.hpp"
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/sets/shared/unique_shapes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace troupe::ops {
namespace {

struct ranked {
  uint64_t key;
  int64_t place;
};

// Greater elements first; of equal elements the first.
bool before(const ranked& a, const ranked& b) {
  return a.key != b.key ? a.key > b.key : a.place < b.place;
}

void rank_row(const tensor& x, int64_t row, ranked* to, int64_t count) {
  with_real_type(x.type(), [&]<class T>(std::type_identity<T>) {
    const T* from = x.data<T>() + row * count;
    for (int64_t i = 0; i < count; ++i)
      to[i] = {order_key(from[i]), i};
  });
}

} // namespace

result<shapes> infer_top_k(const infer_context& at, std::optional<int64_t> k) {
  auto dims = at.input(0);
  if (k && *k < 0)
    return at.invalid("k must not be negative, got ", *k);
  if (!dims.has_rank())
    return shapes{dims, dims};
  if (dims.rank() == 0)
    return at.invalid("input must have an axis, got a scalar");
  auto last = dims.rank() - 1;
  if (k && dims[last] != unknown_extent && dims[last] < *k)
    return at.invalid("the last axis of input ", dims, " has no ", *k, " elements");
  dims.set(last, k.value_or(unknown_extent));
  TROUPE_ASSIGN(auto checked, partial_shape::make(dims.extents()));
  return shapes{checked, checked};
}

edges top_k_gradient(gradient_context& at) {
  edges parts(static_cast<size_t>(at.inputs()));
  if (!at.has_output_gradient(0))
    return parts;
  auto x = at.input(0);
  auto last = constant_like(x, tensor::scalar(int32_t{-1}));
  auto from = build("GatherV2", {positions_of(x), at.output(1), last}, {{"batch_dims", -1}});
  parts[0] = summed_at(from, at.output_gradient(0), x);
  return parts;
}

result<shape> greatest_dims(const kernel_context& at, int64_t k) {
  auto dims = at.input(0).dims();
  auto last = dims.rank() - 1;
  if (last < 0 || k < 0 || k > dims[last])
    return invalid("the last axis of input ", dims, " has no ", k, " elements");
  if (at.output_type(1) == dtype::i32 && dims[last] > std::numeric_limits<int32_t>::max())
    return invalid("the last axis of input has more places than an i32 can name");
  dims.set(last, k);
  return dims;
}

status find_greatest(kernel_context& at, int64_t k) {
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto dims, greatest_dims(at, k));
  auto columns = x.dims()[x.rank() - 1];
  TROUPE_ASSIGN(auto* values, at.allocate(0, dims));
  TROUPE_ASSIGN(auto* places, at.allocate(1, dims));
  if (values->elements() == 0)
    return {};
  auto rows = x.elements() / columns;
  // Each part has its own scratch memory, and handles its rows one after another.
  auto parts = std::min<int64_t>(rows, 4 * at.device().threads());
  std::vector<ranked> room(static_cast<size_t>(parts * columns));
  auto depth = std::log2(static_cast<double>(k) + 2);
  auto cost = 2 * depth * static_cast<double>(columns) * static_cast<double>(rows / parts + 1);
  at.parallel_for(parts, cost, [&](int64_t begin, int64_t end) {
    for (auto part = begin; part < end; ++part) {
      auto* candidates = room.data() + part * columns;
      for (auto row = rows * part / parts; row < rows * (part + 1) / parts && !at.stopped();
           ++row) {
        rank_row(x, row, candidates, columns);
        std::partial_sort(candidates, candidates + k, candidates + columns, before);
        for (int64_t i = 0; i < k; ++i) {
          set_integer(*places, row * k + i, candidates[i].place);
          copy_elements({x, row * columns + candidates[i].place}, {*values, row * k + i}, 1);
        }
      }
    }
  });
  return {};
}

} // namespace troupe::ops
