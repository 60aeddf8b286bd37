// Indices that GPU kernels read on the device, and the rows that they select.
#pragma once
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/kernel/gpu/launch.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

/// Integers of either size, for reading.
class integers {
public:
  /// Takes u8, i32 or i64.
  explicit integers(const tensor& source)
      : from_(source.raw()), bytes_(static_cast<int>(size_of(source.type()))) {}

  TROUPE_DEVICE int64_t operator[](int64_t i) const {
    return bytes_ == 8   ? static_cast<const int64_t*>(from_)[i]
           : bytes_ == 4 ? static_cast<const int32_t*>(from_)[i]
                         : static_cast<const uint8_t*>(from_)[i];
  }

private:
  const void* from_;
  int bytes_;
};

/// Integers of either size, for writing.
class integer_output {
public:
  /// Takes i32 or i64.
  explicit integer_output(const tensor& target)
      : to_(target.raw()), is_wide_(target.type() == dtype::i64) {}

  TROUPE_DEVICE void set(int64_t i, int64_t value) const {
    if (is_wide_)
      static_cast<int64_t*>(to_)[i] = value;
    else
      static_cast<int32_t*>(to_)[i] = static_cast<int32_t>(value);
  }

private:
  void* to_;
  bool is_wide_;
};

/// Division by a number that is the same for all threads; a 64-bit division costs four times as
/// much.
class divisor {
public:
  divisor() = default;
  /// Divides numbers in [0, limit).
  divisor(int64_t number, int64_t limit)
      : by_(std::max<int64_t>(number, 1)), narrow_(std::max(number, limit) < 1ll << 31) {}

  struct parts {
    int64_t quotient, rest;
  };
  TROUPE_DEVICE parts operator()(int64_t i) const {
    auto quotient =
        narrow_ ? int64_t{static_cast<uint32_t>(i) / static_cast<uint32_t>(by_)} : i / by_;
    return {quotient, i - quotient * by_};
  }

private:
  int64_t by_ = 1;
  bool narrow_ = true;
};

/// The blocks of a tensor that rows of indices select, one index for each of the first axes.
class block_numbers {
public:
  /// `depth` coordinates per row. With `ignores`, indices out of range are not reported.
  block_numbers(kernel_context& at, const tensor& indices, int depth, const shape& dims,
                bool ignores)
      : from_(indices), wrong_(at, "indices"), depth_(depth), ignores_(ignores) {
    for (int axis = 0; axis < depth; ++axis)
      extents_[axis] = dims[axis];
  }

  /// -1 for an index out of range.
  TROUPE_DEVICE int64_t operator[](int64_t row) const {
    int64_t block = 0;
    for (int axis = 0; axis < depth_; ++axis) {
      auto coordinate = from_[row * depth_ + axis];
      if (coordinate < 0 || coordinate >= extents_[axis]) {
        if (!ignores_)
          wrong_.add(coordinate, extents_[axis]);
        return -1;
      }
      block = block * extents_[axis] + coordinate;
    }
    return block;
  }

private:
  integers from_;
  device_errors wrong_;
  int depth_;
  bool ignores_;
  int64_t extents_[max_rank] = {};
};

/// Some bytes that move as one. They may alias objects of other types.
template <class Word, int Words>
struct [[gnu::may_alias]] alignas(sizeof(Word) * Words) moved_unit {
  Word words[Words];
};

/// Calls the body with a std::type_identity of the largest unit that divides rows of this many
/// bytes at these addresses, and with the number of units per row.
template <class Body>
auto with_row_unit(int64_t bytes, std::initializer_list<const void*> begins, Body&& body) {
  auto address_bits = static_cast<uint64_t>(bytes);
  for (auto* begin : begins)
    address_bits |= reinterpret_cast<uint64_t>(begin);
  if (address_bits % 16 == 0)
    return body(std::type_identity<moved_unit<uint64_t, 2>>{}, bytes / 16);
  if (address_bits % 8 == 0)
    return body(std::type_identity<moved_unit<uint64_t, 1>>{}, bytes / 8);
  if (address_bits % 4 == 0)
    return body(std::type_identity<moved_unit<uint32_t, 1>>{}, bytes / 4);
  if (address_bits % 2 == 0)
    return body(std::type_identity<moved_unit<uint16_t, 1>>{}, bytes / 2);
  return body(std::type_identity<moved_unit<uint8_t, 1>>{}, bytes);
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
