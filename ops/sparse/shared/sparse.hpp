// Sparse tensors as ops get them, in three inputs: the indices of the elements that are there
// [count, rank], their values [count], and the shape that the tensor would have if it were dense.
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

/// Which inputs they are; by default neighbours.
struct sparse_inputs {
  constexpr explicit sparse_inputs(int first) : sparse_inputs(first, first + 1, first + 2) {}
  constexpr sparse_inputs(int indices_, int values_, int dims_)
      : indices(indices_), values(values_), dims(dims_) {}

  int indices, values, dims;
};

/// What is known of a sparse tensor while the graph is built.
struct partial_sparse {
  int64_t count = unknown_extent;
  partial_shape dims;

  /// Of its indices: [count, rank].
  partial_shape index_dims() const {
    return {count, dims.has_rank() ? int64_t{dims.rank()} : unknown_extent};
  }
};

/// Fails where the three cannot belong together.
result<partial_sparse> infer_sparse(const infer_context& at, sparse_inputs which);

/// A sparse tensor whose parts fit each other, with all indices inside of its shape. The indices
/// are a copy, so that nobody changes them once they are checked.
class sparse_view {
public:
  static result<sparse_view> read(const kernel_context& at, sparse_inputs which);
  static result<sparse_view> make(const tensor& indices, const tensor& dims);

  int64_t count() const noexcept { return static_cast<int64_t>(positions_.size()); }
  int rank() const noexcept { return dims_.rank(); }
  const shape& dims() const noexcept { return dims_; }
  /// Requires that it was read with values.
  const tensor& values() const noexcept { return values_; }
  std::span<const int64_t> index(int64_t i) const noexcept {
    return {indices_.data() + i * rank(), static_cast<size_t>(rank())};
  }
  /// Where the elements would lie in the dense tensor, in row-major order.
  std::span<const int64_t> positions() const noexcept { return positions_; }

  /// Fails unless the indices are in lexicographic order, and each there once.
  status in_order() const;

  /// The order in which the elements would be in order; stable.
  std::vector<int64_t> sorted() const;

  /// Where the elements lie in a dense tensor of another shape, whose extents are the same or 1;
  /// axes that it lacks in front count as 1.
  std::vector<int64_t> positions_in(const shape& other) const;

private:
  shape dims_;
  std::vector<int64_t> indices_, positions_;
  tensor values_;
};

/// What must hold of their shapes; returns that of the dense tensor.
result<shape> dense_shape(const tensor& indices, const tensor& dims);

/// Makes output i the indices [count, rank] whose positions in a dense tensor of that shape are
/// given.
status make_indices(kernel_context& at, int i, std::span<const int64_t> positions,
                    const shape& dims);
/// Makes output i the elements of `from` with these numbers.
status make_values(kernel_context& at, int i, const tensor& from, std::span<const int64_t> which);
/// Makes output i a vector of the extents.
status make_dims(kernel_context& at, int i, const shape& dims);

/// A block of a sparse tensor: where it begins, and its extents.
struct sparse_block {
  shape dims;
  std::array<int64_t, max_rank> start = {};

  /// Where an index of the tensor lies in the block, in row-major order; nothing outside of it.
  std::optional<int64_t> position_of(std::span<const int64_t> index) const;
};
/// The part that is inside of a tensor.
result<sparse_block> read_block(const tensor& start, const tensor& size, const shape& within);

/// Elements of two ordered sparse tensors that have the same index; -1 where one of them has none.
struct sparse_pair {
  int64_t a, b;
};
std::vector<sparse_pair> pair_up(const sparse_view& a, const sparse_view& b);

/// For gradients: the elements of a dense tensor, which is broadcast to the sparse tensor's shape,
/// at the indices of the sparse tensor; `like` has its values' shape.
edge dense_at(edge indices, edge like, edge dims, edge dense);

/// For gradients: 0, 1, 2 and so on, one for each element of a vector, as i64. Sent through an op
/// instead of values, they say where each element of its output came from.
edge numbers_of(edge list);

/// For gradients: undoes a reordering, given where each element came from.
edge put_back(edge reordered, edge came_from);

/// For gradients: adds each value to the element of a vector of zeros, as long as `like`, whose
/// number is given. Values with a negative number are left out.
edge gathered_in(edge like, edge values, edge numbers);

} // namespace troupe::ops
