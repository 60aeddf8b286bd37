// Lists of tensors as elements of tensors: what loops collect, turn by turn.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

#include <memory>

namespace troupe {

/// What a handle stands for: who changes it changes it for all who have a handle of it. Made by an
/// op, and gone with its last handle. A TensorArray, a stack
/// (ops/list/shared/step_objects.cpu.hpp).
class TROUPE_API shared_object {
public:
  virtual ~shared_object() = default;
  virtual std::string description() const = 0; ///< "TensorArray 'outputs'"

  /// To be asked before the object keeps a handle of another one. Fails where one that is kept
  /// would keep others: so none keeps itself, and objects are not freed by calls within calls.
  /// From any thread.
  status keep(shared_object& other);

private:
  bool keeps_ = false, is_kept_ = false;
};

/// What an element of type `variant` holds. Copying copies no elements of the items.
class TROUPE_API tensor_list {
public:
  /// The items' type; none: each has its own, as in a tuple.
  dtype type = dtype::none;
  /// What is known of the items' shapes.
  partial_shape dims = {};
  /// More items must not be added; -1: any number.
  int64_t most = -1;
  /// One that is empty() has been reserved, and counts as zeros.
  std::vector<tensor> items = {};
  /// Set: this is no list, but a handle.
  std::shared_ptr<shared_object> object = {};

  /// How deep lists lie within lists; 1 for a list of numbers.
  int depth() const noexcept { return depth_; }
  /// Whether it is a handle, or some lie within it: then it cannot leave its step.
  bool has_handles() const noexcept { return object || has_inner_handles_; }
  /// Items of these may be added. Fails where lists would lie too deep within lists.
  status admit(const tensor& item);

  /// Equal items in the same order.
  bool operator==(const tensor_list& other) const noexcept;

private:
  int depth_ = 1;
  bool has_inner_handles_ = false;
};

/// How many items a walk through lists within lists may meet: a list may stand in another one
/// twice, and so on, and a short one stand for more items than there could be.
class list_budget {
public:
  status take() {
    return left_-- > 0
               ? status{}
               : failure(error_kind::resource_exhausted, "lists within lists have more than ",
                         most_items, " items, those that stand there twice counted twice");
  }
  bool is_spent() const noexcept { return left_ <= 0; }

private:
  static constexpr int64_t most_items = int64_t{1} << 21;
  int64_t left_ = most_items;
};

/// What a handle among the elements, or within one of them, stands for; nullptr where there is
/// none.
TROUPE_API const shared_object* find_handle(const tensor& in) noexcept;

/// Prints the number of items: `list of 3 f32[2]`; of a handle, what it stands for.
TROUPE_API std::ostream& operator<<(std::ostream& out, const tensor_list& what);

/// Bounded, because lists within lists are freed by calls within calls.
inline constexpr int max_list_depth = 1000;

} // namespace troupe
