#include "troupe/ops/array/uniqueness.cpu.hpp"
#include "troupe/ops/axes.hpp"
#include "troupe/runtime/infer.hpp"

namespace troupe::ops {
namespace {

status run(kernel_context& at) {
  const auto& x = at.input(0);
  auto named = to_integers(at.input(1));
  if (at.input(1).rank() != 1 || named.size() > 1 || (named.size() == 0 && x.rank() != 1))
    return invalid("axis must be a vector of one number, or empty where x is a vector; got shape ",
                   at.input(1).dims(), " for x ", x.dims());
  TROUPE_ASSIGN(auto axis, resolve_axis(named.size() == 0 ? 0 : named[0], x.rank()));
  auto outer = product(x.dims(), 0, axis), inner = product(x.dims(), axis + 1, x.rank());
  auto count = x.dims()[axis];
  auto rows = x;
  if (outer != 1) { // a slice becomes neighbours
    walk places;
    places.push_back(count, {inner, 0});
    places.push_back(outer, {inner * count, 0});
    places.push_back(inner, {1, 0});
    TROUPE_ASSIGN(rows, tensor::make(x.type(), x.dims(), at.memory()));
    copy_walked(at, places, {x}, rows);
  }
  auto found = kinds_of(at, rows, count, outer * inner);
  auto dims = x.dims();
  dims.set(axis, static_cast<int64_t>(found.first.size()));
  TROUPE_ASSIGN(auto* y, at.allocate(0, dims));
  if (y->elements() > 0) {
    std::vector<int64_t> places;
    for (int64_t i = 0; i < outer; ++i)
      for (auto slice : found.first)
        places.push_back(i * count + slice);
    take_blocks(at, x, places, inner, *y);
  }
  return put_integers(at, 1, found.of_row);
}

} // namespace

extern constexpr kernel_def unique_v2_cpu{
    .op = "UniqueV2",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops
