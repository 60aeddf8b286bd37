// Indices that kernels of GPUs read on the device, and rows that they name.
#pragma once
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/kernel/gpu/launch.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

/// Whole numbers of either size.
class integers {
public:
  /// Takes u8, i32 or i64.
  explicit integers(const tensor& of)
      : from_(of.raw()), bytes_(static_cast<int>(size_of(of.type()))) {}

  TROUPE_DEVICE int64_t operator[](int64_t i) const {
    return bytes_ == 8   ? static_cast<const int64_t*>(from_)[i]
           : bytes_ == 4 ? static_cast<const int32_t*>(from_)[i]
                         : static_cast<const uint8_t*>(from_)[i];
  }

private:
  const void* from_;
  int bytes_;
};

/// Where whole numbers of either size are written.
class integer_output {
public:
  /// Takes i32 or i64.
  explicit integer_output(const tensor& of) : to_(of.raw()), is_wide_(of.type() == dtype::i64) {}

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

/// Division by the same number for all threads; one of 64 bits costs four times as much.
class divisor {
public:
  divisor() = default;
  /// Of numbers in [0, limit).
  divisor(int64_t by, int64_t limit)
      : by_(std::max<int64_t>(by, 1)), narrow_(std::max(by, limit) < 1ll << 31) {}

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

/// What several indices, one for each of the first axes of a tensor, name: its blocks.
class block_numbers {
public:
  /// `depth` coordinates in a row. With `ignores` nobody hears of those that are not there.
  block_numbers(kernel_context& at, const tensor& indices, int depth, const shape& dims,
                bool ignores)
      : from_(indices), wrong_(at, "indices"), depth_(depth), ignores_(ignores) {
    for (int axis = 0; axis < depth; ++axis)
      extents_[axis] = dims[axis];
  }

  /// -1 for one that is not there.
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

/// Some bytes that move as one. They may be read where other types were written.
template <class Word, int Words>
struct [[gnu::may_alias]] alignas(sizeof(Word) * Words) moved_unit {
  Word words[Words];
};

/// Calls the body with a std::type_identity of the largest unit that rows of so many bytes are made
/// of, if they begin where these addresses say, and with the number of units in a row.
template <class Body>
auto with_row_unit(int64_t bytes, std::initializer_list<const void*> begins, Body&& body) {
  auto all = static_cast<uint64_t>(bytes);
  for (auto* begin : begins)
    all |= reinterpret_cast<uint64_t>(begin);
  if (all % 16 == 0)
    return body(std::type_identity<moved_unit<uint64_t, 2>>{}, bytes / 16);
  if (all % 8 == 0)
    return body(std::type_identity<moved_unit<uint64_t, 1>>{}, bytes / 8);
  if (all % 4 == 0)
    return body(std::type_identity<moved_unit<uint32_t, 1>>{}, bytes / 4);
  if (all % 2 == 0)
    return body(std::type_identity<moved_unit<uint16_t, 1>>{}, bytes / 2);
  return body(std::type_identity<moved_unit<uint8_t, 1>>{}, bytes);
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
