// The extents of a tensor: fully known (shape), or as far as known while a graph is built
// (partial_shape).
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/types/status.hpp"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <vector>

namespace troupe {

/// The most axes a tensor can have. Shapes live inside tensors, without allocation.
inline constexpr int max_rank = 8;

/// Every extent is known and not negative. Copying allocates nothing.
class TROUPE_API shape {
public:
  shape() = default; ///< a scalar's
  /// Throws troupe::error for a negative extent or too many axes; use `make` for extents that come
  /// from files or peers.
  shape(std::initializer_list<int64_t> extents);

  /// Fails for a negative extent, too many axes, or more than 2^62 elements.
  static result<shape> make(std::span<const int64_t> extents);

  int rank() const noexcept { return rank_; }
  /// Throws troupe::error for an axis that is not in [0, rank()).
  int64_t operator[](int axis) const { return extents_[checked(axis)]; }
  int64_t elements() const noexcept;
  std::span<const int64_t> extents() const noexcept {
    return {extents_.data(), static_cast<size_t>(rank_)};
  }
  auto begin() const noexcept { return extents().begin(); }
  auto end() const noexcept { return extents().end(); }

  /// Changes one extent, or adds an axis. Throws troupe::error for an axis that is not there, and
  /// for one too many; the caller sees to the extent.
  void set(int axis, int64_t extent) { extents_[checked(axis)] = extent; }
  void push_back(int64_t extent);

  bool operator==(const shape& other) const noexcept;

private:
  size_t checked(int axis) const {
    return detail::checked_index("a shape", "axis", axis, static_cast<size_t>(rank_));
  }

  std::array<int64_t, max_rank> extents_{};
  int rank_ = 0;
};

TROUPE_API std::ostream& operator<<(std::ostream& out, const shape& dims);

inline constexpr int64_t unknown_extent = -1;

/// Rank and extents may be unknown; unknown extents are -1.
class TROUPE_API partial_shape {
public:
  partial_shape() = default; ///< nothing is known, not even the rank
  partial_shape(const shape& known);
  partial_shape(std::initializer_list<int64_t> extents); ///< -1 for an unknown extent
  explicit partial_shape(std::vector<int64_t> extents);

  static partial_shape unknown() { return {}; }
  /// The rank is known, no extent is. Throws troupe::error for a negative rank.
  static partial_shape of_rank(int rank);

  /// Fails for an extent below -1 or too many axes.
  static result<partial_shape> make(std::span<const int64_t> extents);

  bool has_rank() const noexcept { return known_rank_; }
  int rank() const noexcept { return known_rank_ ? static_cast<int>(extents_.size()) : -1; }
  /// Returns the extent, or -1 when it is unknown. Throws troupe::error for an axis that is not in
  /// [0, rank()), as all are not where the rank is unknown.
  int64_t operator[](int axis) const { return extents_[checked(axis)]; }
  std::span<const int64_t> extents() const noexcept { return extents_; }
  bool fully_known() const noexcept;
  int64_t elements() const noexcept; ///< -1 when not fully known
  shape known() const;               ///< throws troupe::error unless fully_known()
  void set(int axis, int64_t extent) { extents_[checked(axis)] = extent; }

  /// Says whether a tensor of the other shape could be described by this one as well.
  bool compatible(const partial_shape& other) const noexcept;
  /// Says whether this describes a tensor of the shape; takes no memory, as it is asked in each
  /// step.
  bool compatible(const shape& found) const noexcept;
  bool operator==(const partial_shape&) const = default;

private:
  size_t checked(int axis) const {
    return detail::checked_index("a shape", "axis", axis, extents_.size());
  }

  std::vector<int64_t> extents_;
  bool known_rank_ = false;
};

TROUPE_API std::ostream& operator<<(std::ostream& out, const partial_shape& dims);

/// Joins what is known of both; fails when they contradict each other.
TROUPE_API result<partial_shape> merge(const partial_shape& a, const partial_shape& b);

/// The shape of an element-wise op on both, by NumPy's rules; fails when extents differ and neither
/// is 1.
TROUPE_API result<partial_shape> broadcast(const partial_shape& a, const partial_shape& b);
TROUPE_API result<shape> broadcast(const shape& a, const shape& b);

/// Counts a negative axis from the end; fails outside [-rank, rank).
TROUPE_API result<int> resolve_axis(int64_t axis, int rank);

} // namespace troupe
