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

/// The types and shapes of a table.
struct table_signature {
  dtype key = dtype::none, value = dtype::none;
  shape value_dims = {}; ///< the shape of each value
  bool constant = false; ///< is initialized once, and then immutable
};

struct table_content {
  tensor keys;   ///< [n], distinct
  tensor values; ///< [n, ...value_dims]
};

/// Pairs in the insertion order of their keys, except that new pairs may fill the places of removed
/// ones.
class table_pairs {
public:
  explicit table_pairs(const table_signature& signature) : signature_(&signature) {}

  int64_t size() const noexcept { return count_; }
  const table_content& room() const noexcept {
    return content_;
  } ///< only its first size() pairs are filled
  /// Returns the position of the key, or -1.
  template <class Key>
  int64_t find(const Key& key) const noexcept {
    return index_.find(key, content_.keys.data<Key>());
  }

  /// Adds pairs; an existing key gets the new value. Text is moved out of `from`, which no other
  /// code may use then. Fails without changes if memory runs out.
  status put(const table_content& from, allocator& memory);
  /// The same, but an existing key must not change its value: fails, possibly after adding some
  /// pairs.
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

/// Like std::shared_mutex, but a writer waits only for the present readers, not for later ones.
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

/// A table. Each function is atomic with respect to changes; readers do not wait for each other.
/// Any thread may call it. Errors name the table.
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
  int64_t size() const; ///< 0 while it is not initialized

  /// Fills `values` [...dims of keys, ...value_dims] with the values of the keys. Missing keys get
  /// a default: one value for all [...value_dims], or one value per key.
  status find(const kernel_context& at, const tensor& keys, const tensor& defaults,
              const tensor& values) const;
  /// Copies all pairs.
  result<table_content> content(allocator& memory) const;

  /// Initializes a constant table. A key may be repeated with the same value, and existing pairs
  /// may be given again. `memory` must outlive the step, here and below.
  status initialize(const table_content& from, allocator& memory);
  /// Adds pairs; later pairs replace earlier ones. Keys may have any shape.
  status insert(const table_content& from, allocator& memory);
  /// Replaces all pairs by these; initializes a constant table.
  status replace(const table_content& from, allocator& memory);
  status remove(const tensor& keys);

private:
  status check_keys(const tensor& keys) const;
  status check_pairs(const table_content& pairs) const;
  status check_changes(std::string_view operation) const;
  status check_initialized() const; // requires the lock

  const table_signature holds_;
  mutable fair_mutex mutex_;
  bool initialized_ = false; // only for a constant table
  table_pairs pairs_;
};

} // namespace troupe::ops
