// Lookup tables: pairs of keys and values that outlive steps.
#pragma once
#include "troupe/ops/lookup/shared/key_index.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <optional>
#include <shared_mutex>

namespace troupe::ops {

inline constexpr dtype_set table_keys{dtype::i32, dtype::i64, dtype::string};
inline constexpr dtype_set table_values{dtype::boolean, dtype::i32, dtype::i64,
                                        dtype::f32,     dtype::f64, dtype::string};

/// What a table holds.
struct table_signature {
  dtype key = dtype::none, value = dtype::none;
  shape value_dims = {}; ///< of each value
  bool constant = false; ///< is initialised, once, and not changed
};

struct table_content {
  tensor keys;   ///< [n], all different
  tensor values; ///< [n, ...value_dims]
};

/// Pairs, in the order in which their keys came, but for those that take the place of removed ones.
class table_pairs {
public:
  explicit table_pairs(const table_signature& of) : signature_(&of) {}

  int64_t size() const noexcept { return count_; }
  const table_content& room() const noexcept { return content_; } ///< of which the first are filled
  /// Returns where the key is, or -1.
  template <class Key>
  int64_t find(const Key& key) const noexcept {
    return index_.find(key, content_.keys.data<Key>());
  }

  /// Adds pairs; a key that is there gets the new value. Text is moved out of `from`, which nobody
  /// else may see then. Fails, and changes nothing, where there is no memory.
  status put(const table_content& from, allocator& memory);
  /// The same, but a key must not get another value than it has: fails, having added some.
  status put_consistent(const table_content& from, allocator& memory);
  void remove(const tensor& keys) noexcept;
  bool operator==(const table_pairs& other) const noexcept;

private:
  status reserve(int64_t more, allocator& memory);

  const table_signature* signature_;
  table_content content_;
  int64_t count_ = 0;
  key_index index_;
};

/// As a std::shared_mutex, but whoever wants to change waits only for those that look now, not for
/// those that come later.
class fair_mutex {
public:
  void lock() {
    std::lock_guard queue{gate_};
    looks_.lock();
  }
  void unlock() { looks_.unlock(); }
  void lock_shared() {
    std::lock_guard queue{gate_};
    looks_.lock_shared();
  }
  void unlock_shared() { looks_.unlock_shared(); }

private:
  std::mutex gate_;
  std::shared_mutex looks_;
};

/// A table. Each function sees and makes all of a change or none of it; those that only look do
/// not wait for each other. Any thread may call. Errors name the table.
class lookup_table final : public named_state {
public:
  lookup_table(std::string name, table_signature holds)
      : named_state(std::move(name)), holds_(holds), pairs_(holds_) {}

  std::string_view kind() const noexcept override { return "table"; }
  status declare_again(const named_state& other) override;
  result<tensor> read() const override; ///< fails: use content()
  void clear() override;
  state_info describe() const override;

  const table_signature& holds() const noexcept { return holds_; }
  int64_t size() const; ///< 0 while it is not initialised

  /// Fills `values` [...dims of keys, ...value_dims] with the values of the keys, or, where there
  /// is none, with what `defaults` says: one value for all [...value_dims], or one for each.
  status find(const kernel_context& at, const tensor& keys, const tensor& defaults,
              const tensor& values) const;
  /// Copies all pairs.
  result<table_content> content(allocator& memory) const;

  /// Gives a constant table its pairs. A key may come twice with the same value; pairs that it has
  /// already are no error. `memory` must outlive the step, here and below.
  status initialize(const table_content& from, allocator& memory);
  /// Adds pairs, of which later ones replace earlier ones; keys may have any shape.
  status insert(const table_content& from, allocator& memory);
  /// Makes these its pairs, whatever it had; those of a constant table are initialised.
  status replace(const table_content& from, allocator& memory);
  status remove(const tensor& keys);

private:
  status check_keys(const tensor& keys) const;
  status check_pairs(const table_content& pairs) const;
  status check_changes(std::string_view how) const;
  status check_initialized() const; // under the lock

  const table_signature holds_;
  mutable fair_mutex mutex_;
  bool initialized_ = false; // of a constant table
  table_pairs pairs_;
};

} // namespace troupe::ops
