#include "troupe/runtime/types/shape.hpp"

#include "troupe/runtime/types/error.hpp"

#include <algorithm>
#include <ostream>

namespace troupe {
namespace {

template <class Extents>
std::ostream& print(std::ostream& out, const Extents& extents) {
  out << '[';
  const char* separator = "";
  for (auto extent : extents) {
    out << separator;
    if (extent == unknown_extent)
      out << '?';
    else
      out << extent;
    separator = ",";
  }
  return out << ']';
}

status too_many_axes(size_t rank) {
  return invalid("a tensor has at most ", max_rank, " axes, got ", rank);
}

} // namespace

shape::shape(std::initializer_list<int64_t> extents) {
  for (auto extent : extents) {
    if (extent < 0)
      throw error{invalid("extents must not be negative, got ", extent, " for axis ", rank_)};
    push_back(extent);
  }
}

result<shape> shape::make(std::span<const int64_t> extents) {
  if (extents.size() > static_cast<size_t>(max_rank))
    return too_many_axes(extents.size());
  shape checked_shape;
  int64_t elements = 1;
  for (auto extent : extents) {
    if (extent < 0)
      return invalid("extents must not be negative, got ", extent);
    checked_shape.push_back(extent);
    // An extent of 0 must not hide an overflow of the others, because a reshape can change the 0.
    auto factor = std::max<int64_t>(extent, 1);
    if (elements > (int64_t{1} << 62) / factor)
      return invalid("a tensor has at most 2^62 elements");
    elements *= factor;
  }
  return checked_shape;
}

int64_t shape::elements() const noexcept {
  int64_t product = 1;
  for (auto extent : extents())
    product *= extent;
  return product;
}

void shape::push_back(int64_t extent) {
  if (rank_ == max_rank)
    throw error{too_many_axes(static_cast<size_t>(rank_) + 1)};
  extents_[static_cast<size_t>(rank_++)] = extent;
}

bool shape::operator==(const shape& other) const noexcept {
  return std::ranges::equal(extents(), other.extents());
}

std::ostream& operator<<(std::ostream& out, const shape& dims) {
  return print(out, dims.extents());
}

partial_shape::partial_shape(const shape& complete)
    : extents_(complete.begin(), complete.end()), known_rank_(true) {}

partial_shape::partial_shape(std::initializer_list<int64_t> extents)
    : extents_(extents), known_rank_(true) {}

partial_shape::partial_shape(std::vector<int64_t> extents)
    : extents_(std::move(extents)), known_rank_(true) {}

partial_shape partial_shape::of_rank(int rank) {
  if (rank < 0)
    throw error{invalid("a rank must not be negative, got ", rank)};
  return partial_shape{std::vector<int64_t>(static_cast<size_t>(rank), unknown_extent)};
}

result<partial_shape> partial_shape::make(std::span<const int64_t> extents) {
  std::vector<int64_t> known_extents(extents.begin(), extents.end());
  for (auto& extent : known_extents) {
    if (extent < unknown_extent)
      return invalid("extents must be -1 (unknown) or more, got ", extent);
    if (extent == unknown_extent)
      extent = 1;
  }
  TROUPE_TRY(shape::make(known_extents)); // the limits on rank and size
  return partial_shape{std::vector<int64_t>(extents.begin(), extents.end())};
}

bool partial_shape::fully_known() const noexcept {
  return known_rank_ && std::ranges::find(extents_, unknown_extent) == extents_.end();
}

int64_t partial_shape::elements() const noexcept {
  if (!fully_known())
    return unknown_extent;
  int64_t product = 1;
  for (auto extent : extents_)
    product *= extent;
  return product;
}

shape partial_shape::known() const {
  if (!fully_known())
    throw error{
        failure(error_kind::failed_precondition, "the shape ", *this, " is not completely known")};
  shape known_shape;
  for (auto extent : extents_)
    known_shape.push_back(extent);
  return known_shape;
}

namespace {

bool may_be_equal(std::span<const int64_t> a, std::span<const int64_t> b) {
  return std::ranges::equal(a, b, [](int64_t x, int64_t y) {
    return x == y || x == unknown_extent || y == unknown_extent;
  });
}

} // namespace

bool partial_shape::compatible(const partial_shape& other) const noexcept {
  return !known_rank_ || !other.known_rank_ || may_be_equal(extents_, other.extents_);
}

bool partial_shape::compatible(const shape& actual) const noexcept {
  return !known_rank_ || may_be_equal(extents_, actual.extents());
}

std::ostream& operator<<(std::ostream& out, const partial_shape& dims) {
  return dims.has_rank() ? print(out, dims.extents()) : out << "[...]";
}

result<partial_shape> merge(const partial_shape& a, const partial_shape& b) {
  if (!a.compatible(b))
    return invalid("shapes ", a, " and ", b, " differ");
  if (!a.has_rank())
    return b;
  auto merged = a;
  if (b.has_rank())
    for (int axis = 0; axis < a.rank(); ++axis)
      merged.set(axis, std::max(a[axis], b[axis]));
  return merged;
}

result<partial_shape> broadcast(const partial_shape& a, const partial_shape& b) {
  if (!a.has_rank() || !b.has_rank())
    return partial_shape::unknown();
  auto rank = std::max(a.rank(), b.rank());
  auto joint = partial_shape::of_rank(rank);
  for (int i = 1; i <= rank; ++i) { // from the last axis to the first
    auto x = i <= a.rank() ? a[a.rank() - i] : 1;
    auto y = i <= b.rank() ? b[b.rank() - i] : 1;
    int64_t extent = 0;
    if (x == y || y == 1)
      extent = x;
    else if (x == 1)
      extent = y;
    else if (x == unknown_extent || y == unknown_extent)
      extent = std::max(x, y); // the unknown extent must be 1 or equal to the known extent
    else
      return invalid("shapes ", a, " and ", b, " cannot be broadcast: ", x, " against ", y,
                     " on axis ", rank - i);
    joint.set(rank - i, extent);
  }
  return joint;
}

result<shape> broadcast(const shape& a, const shape& b) {
  shape joint;
  auto rank = std::max(a.rank(), b.rank());
  for (int axis = 0; axis < rank; ++axis) {
    auto from_a = axis - (rank - a.rank()), from_b = axis - (rank - b.rank());
    auto x = from_a >= 0 ? a[from_a] : 1, y = from_b >= 0 ? b[from_b] : 1;
    if (x != y && x != 1 && y != 1)
      return invalid("shapes ", a, " and ", b, " cannot be broadcast: ", x, " against ", y,
                     " on axis ", axis);
    joint.push_back(x == 1 ? y : x);
  }
  return joint;
}

result<int> resolve_axis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank)
    return invalid("axis ", axis, " is outside [-", rank, ", ", rank, ")");
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

} // namespace troupe
