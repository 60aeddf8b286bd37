// Prepares the batches of later steps while a step runs.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace troupe {

/// Computes batches by their number on several threads. The class itself is not thread-safe.
class batch_prefetcher {
public:
  using batch = std::optional<std::vector<tensor>>;

  batch_prefetcher(std::function<batch(int64_t number)> make, size_t threads);
  batch_prefetcher(const batch_prefetcher&) = delete;
  /// Waits for the batches in progress.
  ~batch_prefetcher();

  /// Requests `count` batches, beginning with number `first`.
  void request(int64_t first, int64_t count);
  /// Waits for a requested batch. The reference is valid until batches are requested that come
  /// `count` after it. Throws the exception of its computation.
  const batch& get(int64_t number) const { return requested_.at(number).get(); }

private:
  struct pool;

  const std::function<batch(int64_t number)> make_;
  std::map<int64_t, std::shared_future<batch>> requested_;
  std::unique_ptr<pool> threads_;
};

} // namespace troupe
