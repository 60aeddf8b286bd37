// Serializes the elements of queues for checkpoints.
#pragma once
#include "troupe/runtime/state/element_store.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

/// Appends numbers, texts and tensors to a string.
class element_writer {
public:
  void add(uint64_t number);
  void add(std::string_view text);
  /// Appends type, shape and values. Fails, possibly after appending a part, for tensors in the
  /// memory of a device, for lists, and for empty tensors (dtype::variant).
  status add(const tensor& value);
  std::string take() noexcept { return std::move(bytes_); }

private:
  std::string bytes_;
};

/// Reads them back in the same order. Checks each length against the remaining bytes: malformed
/// input gives nullopt or an error. Does not own the bytes.
class element_reader {
public:
  explicit element_reader(std::string_view bytes) : left_(bytes) {}

  std::optional<uint64_t> number();
  std::optional<std::string_view> text();
  result<tensor> read(allocator& memory = heap_allocator());
  size_t bytes_left() const noexcept { return left_.size(); } ///< number of unread bytes

private:
  std::string_view left_;
};

} // namespace troupe
