// What kernels make once for a shape, kept for the next step.
#pragma once
#include <array>
#include <memory>
#include <mutex>
#include <utility>

namespace troupe::ops {

/// Keeps the values of the last few keys. Any thread may ask; values are shared, and outlive their
/// place here while somebody has them.
template <class Key, class Value, size_t Places = 8>
class recently_used {
public:
  using pointer = std::shared_ptr<const Value>;

  /// The value of the key; `make(key)` makes it where it is not there. Two threads may make the
  /// same value at once.
  template <class Make>
  pointer get(const Key& key, Make&& make) {
    {
      std::lock_guard lock{mutex_};
      for (size_t i = 0; i < size_; ++i)
        if (places_[i].first == key) {
          for (; i > 0; --i) // the most recent comes first
            std::swap(places_[i], places_[i - 1]);
          return places_[0].second;
        }
    }
    pointer made = make(key);
    std::lock_guard lock{mutex_};
    size_ = std::min(size_ + 1, Places);
    for (auto i = size_ - 1; i > 0; --i)
      places_[i] = std::move(places_[i - 1]);
    places_[0] = {key, made};
    return made;
  }

private:
  std::mutex mutex_;
  std::array<std::pair<Key, pointer>, Places> places_{};
  size_t size_ = 0;
};

} // namespace troupe::ops
