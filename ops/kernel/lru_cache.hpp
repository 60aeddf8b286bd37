// A cache of values that kernels compute once per shape.
#pragma once
#include <array>
#include <memory>
#include <mutex>
#include <utility>

namespace troupe::ops {

/// Keeps the values of the last few keys. Any thread may call it. Values are shared, and live on
/// after their eviction while a caller holds them.
template <class Key, class Value, size_t Places = 8>
class lru_cache {
public:
  using pointer = std::shared_ptr<const Value>;

  /// Returns the value of the key; calls `make(key)` where it is missing. Two threads may make the
  /// same value concurrently.
  template <class Make>
  pointer get(const Key& key, Make&& make) {
    {
      std::lock_guard lock{mutex_};
      for (size_t i = 0; i < size_; ++i)
        if (places_[i].first == key) {
          for (; i > 0; --i) // the most recent first
            std::swap(places_[i], places_[i - 1]);
          return places_[0].second;
        }
    }
    pointer created = make(key);
    std::lock_guard lock{mutex_};
    size_ = std::min(size_ + 1, Places);
    for (auto i = size_ - 1; i > 0; --i)
      places_[i] = std::move(places_[i - 1]);
    places_[0] = {key, created};
    return created;
  }

private:
  std::mutex mutex_;
  std::array<std::pair<Key, pointer>, Places> places_{};
  size_t size_ = 0;
};

} // namespace troupe::ops
