// The orders in which the kinds of queues give their elements.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

namespace troupe {

/// A tuple of tensors, one for each component.
using element = std::vector<tensor>;

/// Returns the bytes of all its tensors.
uint64_t bytes_of(const element& components);

/// An element with its number in the order of all elements that were ever put in.
struct numbered_element {
  uint64_t number = 0;
  element tensors = {};
};

/// Not thread-safe.
class element_store {
public:
  virtual ~element_store() = default;

  /// Puts in a new element, whose number is higher than all before, or puts back an element that
  /// was taken out: then the store is as if the element had stayed.
  virtual void put(numbered_element numbered) = 0;
  virtual int64_t size() const noexcept = 0;
  /// Number of elements that must stay while more elements may come.
  virtual int64_t reserved() const noexcept { return 0; }
  /// Takes out an element. The store must not be empty.
  virtual numbered_element take() = 0;
  virtual void clear() = 0;
  virtual uint64_t bytes() const = 0; ///< of all elements

  /// Copies of all elements, in an order in which they can be put into another store of the kind.
  virtual std::vector<numbered_element> copy_elements() const = 0;
  /// The state of the random number generator; 0 for stores without one.
  virtual uint64_t position() const noexcept { return 0; }
  virtual void restore_position(uint64_t) noexcept {}
};

/// The oldest element first.
class fifo_store final : public element_store {
public:
  void put(numbered_element numbered) override;
  int64_t size() const noexcept override { return static_cast<int64_t>(elements_.size()); }
  numbered_element take() override;
  void clear() override { elements_.clear(); }
  uint64_t bytes() const override;
  std::vector<numbered_element> copy_elements() const override {
    return {elements_.begin(), elements_.end()};
  }

private:
  std::deque<numbered_element> elements_; // by number
};

/// Each element with the same probability. Keeps a reserve, so that neighbours are separated.
class shuffle_store final : public element_store {
public:
  shuffle_store(int64_t min_after_dequeue, uint64_t seed)
      : reserve_(min_after_dequeue), position_(seed) {}

  void put(numbered_element numbered) override { elements_.push_back(std::move(numbered)); }
  int64_t size() const noexcept override { return static_cast<int64_t>(elements_.size()); }
  int64_t reserved() const noexcept override { return reserve_; }
  numbered_element take() override;
  void clear() override { elements_.clear(); }
  uint64_t bytes() const override;
  std::vector<numbered_element> copy_elements() const override { return elements_; }
  uint64_t position() const noexcept override { return position_; }
  void restore_position(uint64_t position) noexcept override { position_ = position; }

private:
  int64_t reserve_;
  uint64_t position_; // of SplitMix64 (Steele et al. 2014), whose state is one number
  std::vector<numbered_element> elements_;
};

/// The element with the least first component, an i64 scalar; among equals the oldest.
class priority_store final : public element_store {
public:
  void put(numbered_element numbered) override;
  int64_t size() const noexcept override { return static_cast<int64_t>(elements_.size()); }
  numbered_element take() override;
  void clear() override { elements_.clear(); }
  uint64_t bytes() const override;
  std::vector<numbered_element> copy_elements() const override;

private:
  std::map<std::pair<int64_t, uint64_t>, element> elements_; // by priority and number
};

} // namespace troupe
