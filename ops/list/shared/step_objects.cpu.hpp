// TensorArrays and stacks: what their handles stand for, from their making to their last reader.
#pragma once
#include "troupe/ops/list/shared/lists.cpu.hpp"

#include <map>
#include <mutex>

namespace troupe::ops {

/// So many elements an array or a stack has at most.
inline constexpr int64_t max_elements = int64_t{1} << 22;

/// Elements that are written once and read once, or as often as one likes; and the arrays of their
/// gradients. All functions may be called from any thread: each is done as a whole. Values are
/// shared, never copied; nothing that was read changes later.
class tensor_array final : public shared_object {
public:
  struct form {
    std::string name;
    dtype type = dtype::none;
    partial_shape dims = {};  ///< what is known of the elements'
    bool grows = false;       ///< where it is written beyond its end
    bool clears = true;       ///< what has been read cannot be read again
    bool same_shapes = false; ///< the first element says what shape all have
    int gradient_of = 0;      ///< 1: of a gradient, 2: of a gradient's gradient; writes add up then
    int64_t joined_size = -1; ///< how many elements a split has made
    shape further = {};       ///< axes that gradients have in front
  };
  static result<std::shared_ptr<tensor_array>> make(form of, int64_t size);

  std::string description() const override;
  dtype type() const noexcept { return form_.type; }
  result<int64_t> size() const;
  /// How many elements are joined where nobody names them.
  result<int64_t> joined_size() const;

  status write(kernel_context& at, int64_t index, tensor value);
  /// Value i goes to element indices[i]. With `joins`, as many as there are elements, and the
  /// array notes how many that were.
  status write(kernel_context& at, std::span<const int64_t> indices, std::vector<tensor> values,
               bool joins);
  result<tensor> read(kernel_context& at, int64_t index);
  /// `wanted` is what else is known of the elements' shapes.
  result<std::vector<tensor>> read(kernel_context& at, std::span<const int64_t> indices,
                                   const partial_shape& wanted);
  /// Lets go of all elements; any further use is an error.
  void close();
  partial_shape dims() const;

  /// The array of gradients that belongs to this name: made when it is asked for first, of as many
  /// elements as there are by then; none can be added to this one from then on. Its elements have
  /// axes in front where `further` has.
  result<std::shared_ptr<tensor_array>> gradient(const std::string& source, const shape& further);

private:
  struct element {
    tensor value = {}; // nothing: zeros, where it is written
    shape dims = {};
    bool is_written = false, is_read = false, is_cleared = false;
  };

  explicit tensor_array(form of) : form_(std::move(of)) {}

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

/// What was pushed last is popped first. From any thread.
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

/// Makes output 0 a handle.
status set_handle(kernel_context& at, std::shared_ptr<shared_object> of);
/// What input 0 is a handle of; lives as long as the kernel runs.
result<tensor_array*> array_at(const kernel_context& at);
result<tensor_stack*> stack_at(const kernel_context& at);

} // namespace troupe::ops
