// Numbers distinct elements, or rows of them, in the order of their first occurrence: shared by the
// Unique ops and ListDiff.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

#include <optional>
#include <unordered_map>

namespace troupe::ops {

/// Comparison of rows of `length` contiguous elements: as numbers, so that NaN differs from
/// everything and -0 equals 0.
struct row_identity {
  row_identity(dtype type, int64_t length);
  size_t (*hash)(const void* row, int64_t length);
  bool (*equal)(const void* a, const void* b, int64_t length);
  int64_t length;
};

/// The distinct rows so far, numbered from 0.
class distinct_rows {
public:
  distinct_rows(dtype type, int64_t length);
  /// The number of the row; a new number if no equal row is known. The row's memory must remain
  /// valid.
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

/// The address of an element, for any type.
inline const void* element_at(const tensor& source, int64_t i) {
  return static_cast<const char*>(source.raw()) + i * static_cast<int64_t>(size_of(source.type()));
}

/// Writes an integer to an i32 or i64 tensor.
inline void set_integer(const tensor& to, int64_t i, int64_t value) {
  if (to.type() == dtype::i32)
    to.data<int32_t>()[i] = static_cast<int32_t>(value);
  else
    to.data<int64_t>()[i] = value;
}

} // namespace troupe::ops
