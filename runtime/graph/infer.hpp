// The interface by which an op's shape function reads a node that is being added, and shared shape
// functions.
#pragma once
#include "troupe/runtime/graph/graph.hpp"

#include <array>
#include <memory>

namespace troupe {

class infer_context {
public:
  explicit infer_context(const node& added) : node_(added) {}

  const op_def& op() const noexcept { return node_.op(); }
  int inputs() const noexcept { return static_cast<int>(node_.inputs().size()); }
  const partial_shape& input(int i) const { return edge_of(i).dims(); }
  dtype input_type(int i) const { return edge_of(i).type(); }
  /// Returns the edge that feeds the input, for shape functions that look at earlier nodes.
  const edge& source(int i) const { return edge_of(i); }
  dtype output_type(int i) const { return node_.output_type(i); }
  int outputs() const noexcept { return node_.outputs(); }
  template <class T>
  const T& attr(std::string_view name) const {
    return node_.attr<T>(name);
  }

  bool has_attr(std::string_view name) const { return node_.attrs().contains(name); }

  /// Returns the value of a constant input, or nullptr if it is not known.
  const tensor* constant(int i) const noexcept { return constant_value(edge_of(i)); }
  /// Returns the elements of a constant i32 or i64 input, or nullopt if they are not known.
  std::optional<std::vector<int64_t>> integers(int i) const;

  /// Returns the node of the variable, queue or table behind a ref input, or nullptr.
  const node* resource(int i) const noexcept { return resource_behind(edge_of(i)); }

  /// Returns the input's shape. Fails if its rank is known and differs.
  result<partial_shape> of_rank(int i, int rank) const;

  /// Builds an error from the expectation and the actual value. The caller adds the node's name.
  template <class... Ts>
  status invalid(const Ts&... parts) const {
    return troupe::invalid(parts...);
  }

private:
  const edge& edge_of(int i) const { return node_.inputs()[static_cast<size_t>(i)]; }
  const node& node_;
};

/// A list of integers. The few integers of shapes and axes need no heap memory, because kernels
/// read them in each run.
class integer_list {
public:
  explicit integer_list(size_t count)
      : size_(count), heap_(count > inline_.size() ? new int64_t[count] : nullptr) {}

  int64_t* data() noexcept { return heap_ ? heap_.get() : inline_.data(); }
  const int64_t* data() const noexcept { return heap_ ? heap_.get() : inline_.data(); }
  size_t size() const noexcept { return size_; }
  int64_t* begin() noexcept { return data(); }
  int64_t* end() noexcept { return data() + size_; }
  const int64_t* begin() const noexcept { return data(); }
  const int64_t* end() const noexcept { return data() + size_; }
  int64_t operator[](size_t i) const noexcept { return data()[i]; }

private:
  size_t size_;
  std::array<int64_t, 2 * max_rank> inline_;
  std::unique_ptr<int64_t[]> heap_;
};

/// Returns the elements of an i32 or i64 tensor; an empty list for other types.
integer_list to_integers(const tensor& values);

namespace infer {
result<shapes> same_as_input(const infer_context& at);    ///< output 0 has the shape of input 0
result<shapes> broadcast_inputs(const infer_context& at); ///< inputs 0 and 1, broadcast
result<shapes> scalar(const infer_context& at);           ///< output 0 is a scalar
result<shapes> nothing(const infer_context& at);          ///< for an op without outputs
result<shapes> shape_attr(const infer_context& at); ///< output 0 has the shape of attribute `shape`
} // namespace infer

} // namespace troupe
