// Numbers elements, or rows of them, in the order in which different ones appear: what Unique, its
// kin and ListDiff share.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

#include <optional>
#include <unordered_map>

namespace troupe::ops {

/// How rows of `length` neighbours of a type are compared: as numbers, so that NaN differs from
/// everything and -0 is 0.
struct row_identity {
  row_identity(dtype type, int64_t length);
  size_t (*hash)(const void* row, int64_t length);
  bool (*equal)(const void* a, const void* b, int64_t length);
  int64_t length;
};

/// The different rows so far, numbered from 0.
class distinct_rows {
public:
  distinct_rows(dtype type, int64_t length);
  /// The number of the row, a new one where none is equal. The row must stay where it is.
  int64_t number_of(const void* row);
  bool contains(const void* row) const { return numbers_.contains(row); }
  int64_t count() const noexcept { return static_cast<int64_t>(numbers_.size()); }

private:
  struct hash {
    row_identity of;
    size_t operator()(const void* row) const { return of.hash(row, of.length); }
  };
  struct equal {
    row_identity of;
    bool operator()(const void* a, const void* b) const { return of.equal(a, b, of.length); }
  };
  std::unordered_map<const void*, int64_t, hash, equal> numbers_;
};

/// The place of an element, whatever its type.
inline const void* element_at(const tensor& of, int64_t i) {
  return static_cast<const char*>(of.raw()) + i * static_cast<int64_t>(size_of(of.type()));
}

/// Writes a whole number to an i32 or i64 tensor.
inline void set_integer(const tensor& to, int64_t i, int64_t value) {
  if (to.type() == dtype::i32)
    to.data<int32_t>()[i] = static_cast<int32_t>(value);
  else
    to.data<int64_t>()[i] = value;
}

} // namespace troupe::ops
