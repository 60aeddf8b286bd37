// Lists of tensors as elements of tensors, such as the values that a loop collects, one for each
// iteration.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

#include <memory>

namespace troupe {

/// An object that several handles share, such as a TensorArray or a stack. A change through one
/// handle is visible through all. An op creates the object; it is destroyed with its last handle
/// (ops/list/shared/step_objects.cpu.hpp).
class TROUPE_API shared_object {
public:
  virtual ~shared_object() = default;
  virtual std::string description() const = 0; ///< "TensorArray 'outputs'"

  /// Checks that this object may keep a handle of `other`. Called before this object keeps it, from
  /// any thread. Fails if an object that is kept would keep another. This excludes cycles, and it
  /// bounds the depth of recursive destruction.
  status keep(shared_object& other);

private:
  bool keeps_ = false, is_kept_ = false;
};

/// An element of type `variant`: a list or a handle. A copy shares the elements of the items.
class TROUPE_API tensor_list {
public:
  /// The type of the items. With `none`, each item has its own type, as in a tuple.
  dtype type = dtype::none;
  /// The known part of the items' shapes.
  partial_shape dims = {};
  /// The maximum number of items; -1: unlimited.
  int64_t max_items = -1;
  /// The items. An item that is empty() is reserved and counts as zeros.
  std::vector<tensor> items = {};
  /// If set, this element is a handle and not a list.
  std::shared_ptr<shared_object> object = {};

  /// Returns the nesting depth of lists; 1 for a list of numbers.
  int depth() const noexcept { return depth_; }
  /// Returns whether this is a handle or contains handles. If so, it cannot leave its step.
  bool has_handles() const noexcept { return object || has_inner_handles_; }
  /// Allows items like `item` to be added. Fails if lists would be nested too deeply.
  status admit(const tensor& item);

  /// Compares items in order.
  bool operator==(const tensor_list& other) const noexcept;

private:
  int depth_ = 1;
  bool has_inner_handles_ = false;
};

/// Limits the number of items that a traversal of nested lists visits. A list may occur several
/// times in another list, so that a small structure can stand for exponentially many items.
class list_budget {
public:
  status count_item() {
    return remaining_-- > 0
               ? status{}
               : failure(error_kind::resource_exhausted, "nested lists have more than ", max_items,
                         " items, counting repeated items each time");
  }
  bool is_spent() const noexcept { return remaining_ <= 0; }

private:
  static constexpr int64_t max_items = int64_t{1} << 21;
  int64_t remaining_ = max_items;
};

/// Returns the object of a handle among the elements or nested in them; nullptr if there is none.
TROUPE_API const shared_object* find_handle(const tensor& elements) noexcept;

/// Prints the number of items, `list of 3 f32[2]`, or the description of a handle's object.
TROUPE_API std::ostream& operator<<(std::ostream& out, const tensor_list& list);

/// Nested lists are freed by recursive calls, so the depth is bounded.
inline constexpr int max_list_depth = 1000;

} // namespace troupe
