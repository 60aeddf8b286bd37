// Elements of queues as bytes, as checkpoints have them.
#pragma once
#include "troupe/runtime/state/element_store.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

/// Puts numbers, texts and tensors behind each other.
class element_writer {
public:
  void add(uint64_t number);
  void add(std::string_view text);
  /// Its type, shape and values. Fails, and has added a part of it, where processors cannot read
  /// the values, and for lists and values that are not there (dtype::variant).
  status add(const tensor& what);
  std::string take() noexcept { return std::move(bytes_); }

private:
  std::string bytes_;
};

/// Gives them again, in the same order. Believes no length before it has looked how many bytes
/// there are: what is no such bytes is nothing, or an error. The bytes must stay meanwhile.
class element_reader {
public:
  explicit element_reader(std::string_view bytes) : left_(bytes) {}

  std::optional<uint64_t> number();
  std::optional<std::string_view> text();
  result<tensor> read(allocator& from = heap_allocator());
  size_t left() const noexcept { return left_.size(); } ///< bytes

private:
  std::string_view left_;
};

} // namespace troupe
