// Where the keys of a table lie: a hash table of positions (open addressing, linear probing).
#pragma once
#include <bit>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::ops {

inline uint32_t hash_of_key(int64_t key) noexcept {
  auto bits = static_cast<uint64_t>(key);
  bits = (bits ^ bits >> 33) * 0xff51afd7ed558ccdu;
  bits = (bits ^ bits >> 33) * 0xc4ceb9fe1a85ec53u;
  return static_cast<uint32_t>(bits >> 32);
}
inline uint32_t hash_of_key(const std::string& key) noexcept {
  return hash_of_key(static_cast<int64_t>(std::hash<std::string_view>{}(key)));
}

/// Finds the positions of keys that somebody else keeps in an array, without gaps.
class key_index {
public:
  static constexpr int64_t max_keys = int64_t{1} << 31;

  /// Makes room for that many keys; `keys` are the `count` that are there.
  template <class Key>
  void reserve(int64_t room, const Key* keys, int64_t count) {
    auto wanted = std::bit_ceil(static_cast<uint64_t>(room) * 3 / 2 + 1); // two thirds at most
    if (wanted <= slots_.size())
      return;
    std::vector<slot> slots(wanted);
    slots_.swap(slots);
    for (int64_t i = 0; i < count; ++i)
      add(keys[i], i);
  }

  /// Returns the key's position, or -1.
  template <class Key>
  int64_t find(const Key& key, const Key* keys) const noexcept {
    if (slots_.empty())
      return -1;
    auto hash = hash_of_key(key);
    for (auto at = hash & mask();; at = (at + 1) & mask()) {
      const auto& one = slots_[at];
      if (one.position == nowhere)
        return -1;
      if (one.hash == hash && keys[one.position] == key)
        return one.position;
    }
  }

  /// Adds a key that is not there, in room that was reserved.
  template <class Key>
  void add(const Key& key, int64_t position) noexcept {
    auto hash = hash_of_key(key);
    auto at = hash & mask();
    while (slots_[at].position != nowhere)
      at = (at + 1) & mask();
    slots_[at] = {hash, static_cast<uint32_t>(position)};
  }

  /// Forgets a key that is there.
  template <class Key>
  void remove(const Key& key, int64_t position) noexcept {
    auto hole = slot_of(key, position);
    // What had to move on because the slot was taken moves back.
    for (auto at = (hole + 1) & mask(); slots_[at].position != nowhere; at = (at + 1) & mask())
      if (((at - slots_[at].hash) & mask()) >= ((at - hole) & mask())) {
        slots_[hole] = slots_[at];
        hole = at;
      }
    slots_[hole] = {};
  }

  /// Notes that a key has moved.
  template <class Key>
  void move(const Key& key, int64_t from, int64_t to) noexcept {
    slots_[slot_of(key, from)].position = static_cast<uint32_t>(to);
  }

private:
  static constexpr uint32_t nowhere = UINT32_MAX;
  struct slot {
    uint32_t hash = 0;
    uint32_t position = nowhere;
  };

  size_t mask() const noexcept { return slots_.size() - 1; }
  template <class Key>
  size_t slot_of(const Key& key, int64_t position) const noexcept {
    auto at = hash_of_key(key) & mask();
    while (slots_[at].position != static_cast<uint32_t>(position))
      at = (at + 1) & mask();
    return at;
  }

  std::vector<slot> slots_; // as many as a power of two
};

} // namespace troupe::ops
