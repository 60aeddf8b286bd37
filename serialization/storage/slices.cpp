#include "troupe/serialization/storage/slices.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace troupe {
namespace {

// More of one tensor are not compared with each other.
constexpr size_t most_slices = 16384;

std::string print(std::span<const int64_t> offset) {
  std::string text = "[";
  for (auto each : offset)
    text += concat(text.size() > 1 ? "," : "", each);
  return text + "]";
}

} // namespace

bool have_common(std::span<const int64_t> one_offset, const shape& one,
                 std::span<const int64_t> other_offset, const shape& other) noexcept {
  for (size_t axis = 0; axis < one_offset.size(); ++axis) {
    auto at = static_cast<int>(axis);
    if (one_offset[axis] + one[at] <= other_offset[axis] ||
        other_offset[axis] + other[at] <= one_offset[axis])
      return false;
  }
  return one.elements() > 0 && other.elements() > 0;
}

status check_slice(const shape& whole, std::span<const int64_t> offset, const shape& dims) {
  auto fits = offset.size() == static_cast<size_t>(whole.rank()) && dims.rank() == whole.rank();
  for (int axis = 0; fits && axis < whole.rank(); ++axis) {
    auto begin = offset[static_cast<size_t>(axis)];
    fits = begin >= 0 && begin <= whole[axis] && dims[axis] <= whole[axis] - begin;
  }
  if (!fits)
    return invalid("a slice ", dims, " at ", print(offset), " does not lie within ", whole);
  return {};
}

int64_t count_common(std::span<const int64_t> one_offset, const shape& one,
                     std::span<const int64_t> other_offset, const shape& other) noexcept {
  int64_t count = 1;
  for (size_t axis = 0; axis < one_offset.size(); ++axis) {
    auto at = static_cast<int>(axis);
    count *=
        std::max<int64_t>(0, std::min(one_offset[axis] + one[at], other_offset[axis] + other[at]) -
                                 std::max(one_offset[axis], other_offset[axis]));
  }
  return count;
}

status check_disjoint(std::span<const tensor_slice> slices) {
  if (slices.size() > most_slices)
    return invalid("it has ", slices.size(), " slices, and at most ", most_slices, " are read");
  std::vector<const tensor_slice*> order;
  for (const auto& each : slices)
    if (each.dims.elements() > 0)
      order.push_back(&each);
  std::ranges::sort(order, [](const auto* a, const auto* b) { return a->offset < b->offset; });
  for (size_t i = 0; i < order.size(); ++i)
    for (size_t k = i + 1; k < order.size(); ++k) {
      const auto &a = *order[i], &b = *order[k];
      if (a.offset.empty() || b.offset[0] >= a.offset[0] + a.dims[0]) {
        if (a.offset.empty())
          return invalid("a scalar has two slices");
        break;
      }
      if (have_common(a.offset, a.dims, b.offset, b.dims))
        return invalid("its slices at ", print(a.offset), " and at ", print(b.offset), " overlap");
    }
  return {};
}

status check_cover(const shape& whole, std::span<const tensor_slice> slices) {
  TROUPE_TRY(check_disjoint(slices));
  int64_t elements = 0;
  for (const auto& each : slices)
    if (__builtin_add_overflow(elements, each.dims.elements(), &elements))
      return invalid("its slices have too many elements");
  if (elements != whole.elements())
    return invalid("its slices have ", elements, " of the ", whole.elements(), " elements of ",
                   whole);
  return {};
}

void copy_common(const tensor& from, std::span<const int64_t> from_offset, tensor& to,
                 std::span<const int64_t> to_offset) {
  const auto rank = static_cast<size_t>(to.rank());
  std::array<int64_t, max_rank> begin{}, extent{}, index{};
  for (size_t axis = 0; axis < rank; ++axis) {
    auto at = static_cast<int>(axis);
    begin[axis] = std::max(from_offset[axis], to_offset[axis]);
    extent[axis] = std::min(from_offset[axis] + from.dims()[at], to_offset[axis] + to.dims()[at]) -
                   begin[axis];
    if (extent[axis] <= 0)
      return;
  }
  const auto run = rank == 0 ? 1 : extent[rank - 1];
  auto place = [&](const tensor& in, std::span<const int64_t> offset) {
    int64_t at = 0;
    for (size_t axis = 0; axis < rank; ++axis)
      at = at * in.dims()[static_cast<int>(axis)] + begin[axis] + index[axis] - offset[axis];
    return at;
  };
  for (;;) {
    auto source = place(from, from_offset), target = place(to, to_offset);
    if (to.type() == dtype::string) {
      std::copy_n(from.data<std::string>() + source, run, to.data<std::string>() + target);
    } else {
      auto each = static_cast<int64_t>(size_of(to.type()));
      std::memcpy(static_cast<std::byte*>(to.raw()) + target * each,
                  static_cast<const std::byte*>(from.raw()) + source * each,
                  static_cast<size_t>(run * each));
    }
    size_t axis = rank < 2 ? 0 : rank - 1; // the last one is the run
    for (; axis > 0; --axis) {
      if (++index[axis - 1] < extent[axis - 1])
        break;
      index[axis - 1] = 0;
    }
    if (axis == 0)
      return;
  }
}

} // namespace troupe
