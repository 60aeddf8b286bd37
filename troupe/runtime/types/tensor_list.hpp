// Lists of tensors as elements of tensors: what loops collect, turn by turn.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

namespace troupe {

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

  /// How deep lists lie within lists; 1 for a list of numbers.
  int depth() const noexcept { return depth_; }
  /// Items of these may be added. Fails where lists would lie too deep within lists.
  status admit(const tensor& item);

  /// Equal items in the same order.
  bool operator==(const tensor_list& other) const noexcept;

private:
  int depth_ = 1;
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
  static constexpr int64_t most_items = int64_t{1} << 24;
  int64_t left_ = most_items;
};

/// Prints the number of items: `list of 3 f32[2]`.
TROUPE_API std::ostream& operator<<(std::ostream& out, const tensor_list& what);

/// Bounded, because lists within lists are freed by calls within calls.
inline constexpr int max_list_depth = 1000;

} // namespace troupe
