// Copying of elements of any type. Kernels that change no values are instantiated per element size
// only.
#pragma once
#include "troupe/ops/kernel/strided_iterator.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <string>
#include <type_traits>

namespace troupe::ops {

/// An element as bytes. It may alias an object of the tensor's own type.
template <class Word, size_t Words = 1>
struct [[gnu::may_alias]] word {
  Word words[Words];
};

/// Calls the body with a std::type_identity of the word of the type's size, or of std::string.
template <class Body>
auto with_word(dtype type, Body&& body) {
  switch (type == dtype::string ? 0 : size_of(type)) {
    case 0: return body(std::type_identity<std::string>{});
    case 1: return body(std::type_identity<word<uint8_t>>{});
    case 2: return body(std::type_identity<word<uint16_t>>{});
    case 4: return body(std::type_identity<word<uint32_t>>{});
    case 8: return body(std::type_identity<word<uint64_t>>{});
    default: return body(std::type_identity<word<uint64_t, 2>>{});
  }
}

/// A part of a tensor: its elements from `first` on.
struct elements_from {
  const tensor& source;
  int64_t first = 0;
};

/// Copies `count` contiguous elements. The tensors have the same type and do not overlap.
void copy_elements(elements_from from, elements_from to, int64_t count);

/// Copies all bytes of a tensor to a tensor of another type and the same number of bytes.
void copy_bytes(kernel_context& at, const tensor& from, const tensor& to);

/// Writes the first element of `value` to `count` contiguous elements.
void fill_elements(const tensor& value, elements_from to, int64_t count);

/// Zero of the type: 0, false, or the empty string.
result<tensor> zero_of(dtype type);

/// Makes output 0 a copy of the input; reuses the input's memory where it has no other user.
result<tensor*> output_from_input(kernel_context& at, int i);

/// Makes all elements zero.
void fill_zeros(kernel_context& at, const tensor& to);

/// Fills `to` in order with the elements of `from` at the iterator's positions.
void copy_strided(kernel_context& at, const strided_iterator& places, elements_from from,
                  const tensor& to);

/// Copies the elements of `from` in order to the iterator's positions in `to`.
void copy_to_strided(kernel_context& at, const strided_iterator& places, const tensor& from,
                     elements_from to);

/// Copies from the positions of the iterator's first operand to the positions of its second.
void copy_between(kernel_context& at, const strided_iterator& places, elements_from from,
                  elements_from to);

/// Fills `to` with blocks of `length` contiguous elements: block i is block places[i] of `from`, or
/// zeros where that is negative.
void take_blocks(kernel_context& at, const tensor& from, std::span<const int64_t> places,
                 int64_t length, const tensor& to);

/// Copies block i of `from` over block places[i] of `to`, or skips it where that is negative. Of
/// several blocks for one destination the last remains.
void put_blocks(kernel_context& at, const tensor& from, std::span<const int64_t> places,
                int64_t length, const tensor& to);

} // namespace troupe::ops
