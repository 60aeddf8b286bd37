// TensorArrays and stacks: the objects of their handles, which live until their last reader ends.
#pragma once
#include "troupe/ops/list/shared/lists.cpu.hpp"

#include <map>
#include <mutex>

namespace troupe::ops {

/// The maximum number of elements of an array or a stack.
inline constexpr int64_t max_elements = int64_t{1} << 22;

/// Elements that are written once and read once, or any number of times; and the arrays of their
/// gradients. Any thread may call the functions; each call is atomic. Values are shared, never
/// copied; a value that was read does not change later.
class tensor_array final : public shared_object {
public:
  struct form {
    std::string name;
    dtype type = dtype::none;
    partial_shape dims = {};  ///< the known part of the elements' shapes
    bool grows = false;       ///< grows when it is written beyond its end
    bool clears = true;       ///< an element can be read only once
    bool same_shapes = false; ///< the first element determines the shape of all
    int gradient_of = 0;      ///< 1: a gradient, 2: a gradient's gradient; their writes add up
    int64_t joined_size = -1; ///< the number of elements that a split has written
    shape further = {};       ///< the leading axes of gradients
  };
  static result<std::shared_ptr<tensor_array>> make(form settings, int64_t size);

  std::string description() const override;
  dtype type() const noexcept { return form_.type; }
  result<int64_t> size() const;
  /// The number of elements that are joined if no indices are given.
  result<int64_t> joined_size() const;

  status write(kernel_context& at, int64_t index, tensor value);
  /// Writes value i to element indices[i]. With `joins`, there must be as many values as elements,
  /// and the array records their number.
  status write(kernel_context& at, std::span<const int64_t> indices, std::vector<tensor> values,
               bool joins);
  result<tensor> read(kernel_context& at, int64_t index);
  /// `known_dims` is further knowledge of the elements' shapes.
  result<std::vector<tensor>> read(kernel_context& at, std::span<const int64_t> indices,
                                   const partial_shape& known_dims);
  /// Releases all elements; any further use is an error.
  void close();
  partial_shape dims() const;

  /// The array of gradients of this source. The first call creates it, with the present number of
  /// elements, and forbids further growth of this array. Its elements have the leading axes
  /// `further`.
  result<std::shared_ptr<tensor_array>> gradient(const std::string& source, const shape& further);

private:
  struct element {
    tensor value = {}; // empty although written: zeros
    shape dims = {};
    bool is_written = false, is_read = false, is_cleared = false;
  };

  explicit tensor_array(form settings) : form_(std::move(settings)) {}

  template <class... Ts>
  status wrong(const Ts&... parts) const;
  status check_open() const;
  status grow_to(int64_t size);
  status check_value(int64_t index, const tensor& value);
  status put(kernel_context& at, int64_t index, tensor value);
  result<tensor> get(kernel_context& at, int64_t index);
  status stand_for_zeros(int64_t index);

  mutable std::mutex mutex_;
  form form_;
  std::vector<element> elements_;
  bool is_closed_ = false;
  std::map<std::string, std::shared_ptr<tensor_array>> gradients_;
};

/// A stack: the last pushed value is popped first. Any thread may call it.
class tensor_stack final : public shared_object {
public:
  tensor_stack(std::string name, dtype type, int64_t most)
      : name_(std::move(name)), type_(type), most_(most) {}

  std::string description() const override { return concat("stack '", name_, '\''); }
  status push(tensor value);
  result<tensor> pop(dtype type);
  void close();

private:
  template <class... Ts>
  status wrong(const Ts&... parts) const;

  mutable std::mutex mutex_;
  const std::string name_;
  const dtype type_;
  const int64_t most_;
  std::vector<tensor> values_;
  bool is_closed_ = false;
};

/// Makes output 0 a handle of the object.
status set_handle(kernel_context& at, std::shared_ptr<shared_object> object);
/// The object of the handle in input 0; it lives as long as the kernel runs.
result<tensor_array*> array_at(const kernel_context& at);
result<tensor_stack*> stack_at(const kernel_context& at);

} // namespace troupe::ops
