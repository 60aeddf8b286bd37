// Sparse tensors, which ops take as three inputs: the indices of the stored elements [count, rank],
// their values [count], and the dense shape of the tensor.
#pragma once
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

namespace troupe::ops {

/// The positions of these inputs; by default they are consecutive.
struct sparse_inputs {
  constexpr explicit sparse_inputs(int first) : sparse_inputs(first, first + 1, first + 2) {}
  constexpr sparse_inputs(int indices_, int values_, int dims_)
      : indices(indices_), values(values_), dims(dims_) {}

  int indices, values, dims;
};

/// The known properties of a sparse tensor when the graph is built.
struct partial_sparse {
  int64_t count = unknown_extent;
  partial_shape dims;

  /// The shape of its indices: [count, rank].
  partial_shape index_dims() const {
    return {count, dims.has_rank() ? int64_t{dims.rank()} : unknown_extent};
  }
};

/// Fails where the three shapes cannot match.
result<partial_sparse> infer_sparse(const infer_context& at, sparse_inputs inputs);

/// A sparse tensor whose parts match, with all indices inside its shape. The indices are copied, so
/// that they cannot change after the check.
class sparse_view {
public:
  static result<sparse_view> read(const kernel_context& at, sparse_inputs inputs);
  static result<sparse_view> make(const tensor& indices, const tensor& dims);

  int64_t count() const noexcept { return static_cast<int64_t>(positions_.size()); }
  int rank() const noexcept { return dims_.rank(); }
  const shape& dims() const noexcept { return dims_; }
  /// Requires that it was read with values.
  const tensor& values() const noexcept { return values_; }
  std::span<const int64_t> index(int64_t i) const noexcept {
    return {indices_.data() + i * rank(), static_cast<size_t>(rank())};
  }
  /// The row-major positions of the elements in the dense tensor.
  std::span<const int64_t> positions() const noexcept { return positions_; }

  /// Fails unless the indices are in lexicographic order without duplicates.
  status in_order() const;

  /// The permutation that sorts the elements; stable.
  std::vector<int64_t> sorted() const;

  /// The positions of the elements in a dense tensor of another shape, whose extents are equal or
  /// 1; missing leading axes count as 1.
  std::vector<int64_t> positions_in(const shape& other) const;

private:
  shape dims_;
  std::vector<int64_t> indices_, positions_;
  tensor values_;
};

/// Checks the shapes; returns the shape of the dense tensor.
result<shape> dense_shape(const tensor& indices, const tensor& dims);

/// Writes the indices [count, rank] of these positions in a dense tensor of that shape to output i.
status make_indices(kernel_context& at, int i, std::span<const int64_t> positions,
                    const shape& dims);
/// Writes the elements of `from` with these numbers to output i.
status make_values(kernel_context& at, int i, const tensor& from,
                   std::span<const int64_t> element_numbers);
/// Writes the extents to output i as a vector.
status make_dims(kernel_context& at, int i, const shape& dims);

/// A block of a sparse tensor: its start, and its extents.
struct sparse_block {
  shape dims;
  std::array<int64_t, max_rank> start = {};

  /// The row-major position of a tensor's index in the block; nullopt outside of the block.
  std::optional<int64_t> position_of(std::span<const int64_t> index) const;
};
/// The part of the block inside a tensor.
result<sparse_block> read_block(const tensor& start, const tensor& size, const shape& within);

/// The elements of two ordered sparse tensors with the same index; -1 where a tensor lacks the
/// index.
struct sparse_pair {
  int64_t a, b;
};
std::vector<sparse_pair> pair_up(const sparse_view& a, const sparse_view& b);

/// For gradients: the elements of a dense tensor, broadcast to the sparse tensor's shape, at the
/// indices of the sparse tensor; `shape_source` has the shape of its values.
edge dense_at(edge indices, edge shape_source, edge dims, edge dense);

/// For gradients: the numbers 0, 1, 2, ... of a vector's elements, as i64. An op applied to them
/// instead of values shows the source of each output element.
edge numbers_of(edge list);

/// For gradients: inverts a permutation, given each element's source.
edge put_back(edge reordered, edge came_from);

/// For gradients: adds each value to the element with the given number of a zero vector like
/// `shape_source`. Values with a negative number are dropped.
edge gathered_in(edge shape_source, edge values, edge numbers);

} // namespace troupe::ops
