// Batches of the next step are made while one runs.
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

/// Feeds by number, which threads of its own make, several at once. Its functions are for one
/// thread.
class batches_ahead {
public:
  using batch = std::optional<std::vector<tensor>>;

  batches_ahead(std::function<batch(int64_t n)> make, size_t threads);
  batches_ahead(const batches_ahead&) = delete;
  /// Waits for those that are being made.
  ~batches_ahead();

  /// Has so many made, beginning with that number.
  void ask(int64_t from, int64_t count);
  /// Waits for one that was asked for. It stays until those are asked for that come `count` after
  /// it. Throws what making it has thrown.
  const batch& get(int64_t n) const { return asked_.at(n).get(); }

private:
  struct pool;

  const std::function<batch(int64_t n)> make_;
  std::map<int64_t, std::shared_future<batch>> asked_;
  std::unique_ptr<pool> threads_;
};

} // namespace troupe
