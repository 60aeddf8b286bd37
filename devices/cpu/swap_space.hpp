// Memory on a disk for tensors that are rarely read, such as those that loops save for gradients.
#pragma once
#include "troupe/devices/cpu/swap_space_options.hpp"
#include "troupe/runtime/types/tensor_list.hpp"

#include <memory>

namespace troupe {

/// Unnamed files, which end with the process. Their tensors are mapped: the system loads pages when
/// they are read, and evicts them when memory is short. Thread-safe; tensors may outlive the
/// object.
class TROUPE_API swap_space {
public:
  /// Smaller tensors are not moved.
  static constexpr size_t min_bytes = 16 * 1024;

  explicit swap_space(swap_space_options options = {});
  ~swap_space();

  /// Returns the same elements in a file. Returns the tensor itself if it is small, not in host
  /// memory, in a file already, or of strings; moves the items of lists likewise. Fails with
  /// resource_exhausted if the disk or the limit has no space.
  result<tensor> move_to_disk(const tensor& source);

  /// Whether the options name a folder.
  bool has_chosen_folder() const noexcept { return chosen_; }
  /// Bytes of the tensors in files.
  size_t in_use() const noexcept;

private:
  class files;
  result<tensor> move_to_disk(const tensor& source, list_budget& budget);
  result<tensor> moved_lists(const tensor& source, list_budget& budget);

  bool chosen_;
  std::shared_ptr<files> files_;
};

} // namespace troupe
