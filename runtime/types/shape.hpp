// The extents of a tensor: completely known (shape), or partly known while a graph is built
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

/// The largest number of axes of a tensor. Shapes are stored in tensors, without allocation.
inline constexpr int max_rank = 8;

/// A shape whose extents are all known and not negative. Copying does not allocate.
class TROUPE_API shape {
public:
  shape() = default; ///< the shape of a scalar
  /// Throws troupe::error for a negative extent or too many axes. Use `make` for extents that come
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

  /// Changes one extent, or adds an axis. Throws troupe::error for an axis that does not exist, and
  /// for more than max_rank axes. The caller ensures that the extent is valid.
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

/// A shape whose rank or extents may be unknown. An unknown extent is -1.
class TROUPE_API partial_shape {
public:
  partial_shape() = default; ///< unknown rank
  partial_shape(const shape& complete);
  partial_shape(std::initializer_list<int64_t> extents); ///< -1 for an unknown extent
  explicit partial_shape(std::vector<int64_t> extents);

  static partial_shape unknown() { return {}; }
  /// Returns a shape of known rank with unknown extents. Throws troupe::error for a negative rank.
  static partial_shape of_rank(int rank);

  /// Fails for an extent below -1 or too many axes.
  static result<partial_shape> make(std::span<const int64_t> extents);

  bool has_rank() const noexcept { return known_rank_; }
  int rank() const noexcept { return known_rank_ ? static_cast<int>(extents_.size()) : -1; }
  /// Returns the extent, or -1 if it is unknown. Throws troupe::error for an axis that is not in
  /// [0, rank()), which is every axis if the rank is unknown.
  int64_t operator[](int axis) const { return extents_[checked(axis)]; }
  std::span<const int64_t> extents() const noexcept { return extents_; }
  bool fully_known() const noexcept;
  int64_t elements() const noexcept; ///< -1 unless fully_known()
  shape known() const;               ///< throws troupe::error unless fully_known()
  void set(int axis, int64_t extent) { extents_[checked(axis)] = extent; }

  /// Returns whether some tensor has a shape that both describe.
  bool compatible(const partial_shape& other) const noexcept;
  /// Returns whether this describes tensors of the shape. Called in each step, so it does not
  /// allocate.
  bool compatible(const shape& actual) const noexcept;
  bool operator==(const partial_shape&) const = default;

private:
  size_t checked(int axis) const {
    return detail::checked_index("a shape", "axis", axis, extents_.size());
  }

  std::vector<int64_t> extents_;
  bool known_rank_ = false;
};

TROUPE_API std::ostream& operator<<(std::ostream& out, const partial_shape& dims);

/// Combines the known ranks and extents of both shapes. Fails if they contradict each other.
TROUPE_API result<partial_shape> merge(const partial_shape& a, const partial_shape& b);

/// Returns the shape of the result of an element-wise op on both, by NumPy's rules. Fails if two
/// extents differ and neither is 1.
TROUPE_API result<partial_shape> broadcast(const partial_shape& a, const partial_shape& b);
TROUPE_API result<shape> broadcast(const shape& a, const shape& b);

/// Converts an axis that may be negative, counted from the end. Fails outside [-rank, rank).
TROUPE_API result<int> resolve_axis(int64_t axis, int rank);

} // namespace troupe
