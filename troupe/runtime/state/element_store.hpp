// Which of a queue's elements comes out next: what the kinds of queues differ in.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <vector>

namespace troupe {

/// A tuple of tensors, one for each component.
using element = std::vector<tensor>;

/// Not thread-safe.
class element_store {
public:
  virtual ~element_store() = default;

  virtual void put(element what) = 0;
  /// Puts back what was taken out last: it comes out before all others that could come instead.
  virtual void put_back(element what) = 0;
  virtual int64_t size() const noexcept = 0;
  /// How many must stay in while more may come.
  virtual int64_t reserve() const noexcept { return 0; }
  /// Takes out one; there is one.
  virtual element take() = 0;
  virtual void clear() = 0;
};

/// The oldest first.
class fifo_store final : public element_store {
public:
  void put(element what) override { elements_.push_back(std::move(what)); }
  void put_back(element what) override { elements_.push_front(std::move(what)); }
  int64_t size() const noexcept override { return static_cast<int64_t>(elements_.size()); }
  element take() override;
  void clear() override { elements_.clear(); }

private:
  std::deque<element> elements_;
};

/// Any, each with the same chance; keeps some so that neighbours do not stay together.
class shuffle_store final : public element_store {
public:
  shuffle_store(int64_t min_after_dequeue, uint64_t seed)
      : least_(min_after_dequeue), dice_(seed) {}

  void put(element what) override { elements_.push_back(std::move(what)); }
  void put_back(element what) override { elements_.push_back(std::move(what)); }
  int64_t size() const noexcept override { return static_cast<int64_t>(elements_.size()); }
  int64_t reserve() const noexcept override { return least_; }
  element take() override;
  void clear() override { elements_.clear(); }

private:
  int64_t least_;
  std::mt19937_64 dice_;
  std::vector<element> elements_;
};

/// The one whose first component, an i64 scalar, is least; of equal ones the oldest.
class priority_store final : public element_store {
public:
  void put(element what) override;
  void put_back(element what) override;
  int64_t size() const noexcept override { return static_cast<int64_t>(elements_.size()); }
  element take() override;
  void clear() override { elements_.clear(); }

private:
  std::multimap<int64_t, element> elements_;
};

} // namespace troupe
