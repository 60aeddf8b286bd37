// Memory on a disk, for tensors that are not read for long: what loops keep for their gradients.
#pragma once
#include "troupe/devices/cpu/swap_space_options.hpp"
#include "troupe/runtime/types/tensor_list.hpp"

#include <memory>

namespace troupe {

/// Files without a name, which end with the process. Their tensors are like others: the system
/// reads what is used, and forgets it when memory is wanted. All functions may be called from any
/// thread; tensors may outlive the object.
class TROUPE_API swap_space {
public:
  /// Smaller tensors stay where they are.
  static constexpr size_t least_bytes = 16 * 1024;

  explicit swap_space(swap_space_options options = {});
  ~swap_space();

  /// The same elements in a file. What is small or in no memory of the host's, and what is no
  /// number, is given as it is; a list with such items, and those that lie in a file already. Fails
  /// with resource_exhausted where the disk or the limit has no room.
  result<tensor> moved(const tensor& what);

  /// Whether somebody has said where the files are to lie.
  bool is_chosen() const noexcept { return chosen_; }
  /// Bytes of the tensors in files.
  size_t in_use() const noexcept;

private:
  class files;
  result<tensor> moved(const tensor& what, list_budget& left);
  result<tensor> moved_lists(const tensor& what, list_budget& left);

  bool chosen_;
  std::shared_ptr<files> files_;
};

} // namespace troupe
