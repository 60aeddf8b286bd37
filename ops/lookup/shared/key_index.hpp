// The positions of a table's keys: a hash table with open addressing and linear probing.
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

/// Finds the positions of keys that the caller keeps in an array, without gaps.
class key_index {
public:
  static constexpr int64_t max_keys = int64_t{1} << 31;

  /// Reserves room for that many keys; `keys` are the `count` existing ones.
  template <class Key>
  void reserve(int64_t room, const Key* keys, int64_t count) {
    auto slot_count =
        std::bit_ceil(static_cast<uint64_t>(room) * 3 / 2 + 1); // a load factor of at most 2/3
    if (slot_count <= slots_.size())
      return;
    std::vector<slot> slots(slot_count);
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
      const auto& probed = slots_[at];
      if (probed.position == nowhere)
        return -1;
      if (probed.hash == hash && keys[probed.position] == key)
        return probed.position;
    }
  }

  /// Adds a missing key; the room must have been reserved.
  template <class Key>
  void add(const Key& key, int64_t position) noexcept {
    auto hash = hash_of_key(key);
    auto at = hash & mask();
    while (slots_[at].position != nowhere)
      at = (at + 1) & mask();
    slots_[at] = {hash, static_cast<uint32_t>(position)};
  }

  /// Removes an existing key.
  template <class Key>
  void remove(const Key& key, int64_t position) noexcept {
    auto hole = slot_of(key, position);
    // Entries that probing had displaced past this slot move back.
    for (auto at = (hole + 1) & mask(); slots_[at].position != nowhere; at = (at + 1) & mask())
      if (((at - slots_[at].hash) & mask()) >= ((at - hole) & mask())) {
        slots_[hole] = slots_[at];
        hole = at;
      }
    slots_[hole] = {};
  }

  /// Records that a key has moved.
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

  std::vector<slot> slots_; // a power of two of slots
};

} // namespace troupe::ops
