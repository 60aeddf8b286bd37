// What a shape function sees of the node that is being added, and shape functions that ops share.
#pragma once
#include "troupe/runtime/graph/graph.hpp"

#include <array>
#include <memory>

namespace troupe {

class infer_context {
public:
  explicit infer_context(const node& of) : node_(of) {}

  const op_def& op() const noexcept { return node_.op(); }
  int inputs() const noexcept { return static_cast<int>(node_.inputs().size()); }
  const partial_shape& input(int i) const { return edge_of(i).dims(); }
  dtype input_type(int i) const { return edge_of(i).type(); }
  /// What feeds the input, for shape functions that look further back.
  const edge& source(int i) const { return edge_of(i); }
  dtype output_type(int i) const { return node_.output_type(i); }
  int outputs() const noexcept { return node_.outputs(); }
  template <class T>
  const T& attr(std::string_view name) const {
    return node_.attr<T>(name);
  }

  bool has_attr(std::string_view name) const { return node_.attrs().contains(name); }

  /// The input's value where it is known already, or nullptr.
  const tensor* constant(int i) const noexcept { return constant_value(edge_of(i)); }
  /// The elements of a constant i32 or i64 input; nothing where it is not known yet.
  std::optional<std::vector<int64_t>> integers(int i) const;

  /// The node that stands for the variable, queue or table behind a ref input, or nullptr.
  const node* resource(int i) const noexcept { return resource_behind(edge_of(i)); }

  /// The input's shape, which must have that rank if its rank is known.
  result<partial_shape> of_rank(int i, int rank) const;

  /// The error says which node it is about; `parts` say what was expected and what was found.
  template <class... Ts>
  status invalid(const Ts&... parts) const {
    return troupe::invalid(parts...);
  }

private:
  const edge& edge_of(int i) const { return node_.inputs()[static_cast<size_t>(i)]; }
  const node& node_;
};

/// Whole numbers. As few as shapes and axes have need no heap memory: kernels read them in each
/// run.
class integer_list {
public:
  explicit integer_list(size_t count)
      : size_(count), far_(count > near_.size() ? new int64_t[count] : nullptr) {}

  int64_t* data() noexcept { return far_ ? far_.get() : near_.data(); }
  const int64_t* data() const noexcept { return far_ ? far_.get() : near_.data(); }
  size_t size() const noexcept { return size_; }
  int64_t* begin() noexcept { return data(); }
  int64_t* end() noexcept { return data() + size_; }
  const int64_t* begin() const noexcept { return data(); }
  const int64_t* end() const noexcept { return data() + size_; }
  int64_t operator[](size_t i) const noexcept { return data()[i]; }

private:
  size_t size_;
  std::array<int64_t, 2 * max_rank> near_;
  std::unique_ptr<int64_t[]> far_;
};

/// The elements of an i32 or i64 tensor; none of other types.
integer_list to_integers(const tensor& values);

namespace infer {
result<shapes> same_as_input(const infer_context& at);    ///< output 0 has the shape of input 0
result<shapes> broadcast_inputs(const infer_context& at); ///< of inputs 0 and 1
result<shapes> scalar(const infer_context& at);           ///< output 0 is a scalar
result<shapes> nothing(const infer_context& at);          ///< there are no outputs
result<shapes> shape_attr(const infer_context& at); ///< output 0 has the shape of attribute `shape`
} // namespace infer

} // namespace troupe
