// The numbers of fields and types in TensorFlow's messages.
#pragma once
#include "troupe/runtime/types/dtype.hpp"

#include <array>

namespace troupe::ops::tensor_proto {

/// Fields of TensorProto.
enum field : int { type = 1, shape = 2, content = 4, texts = 8 };

/// The encoding of a type: its number, and the field of TensorProto that lists its elements.
struct type_entry {
  dtype of;
  uint32_t number;
  uint32_t list;
};

inline constexpr auto types = std::to_array<type_entry>({
    {dtype::f32, 1, 5},
    {dtype::f64, 2, 6},
    {dtype::i32, 3, 7},
    {dtype::u8, 4, 7},
    {dtype::i16, 5, 7},
    {dtype::i8, 6, 7},
    {dtype::string, 7, 8},
    {dtype::c64, 8, 9},
    {dtype::i64, 9, 10},
    {dtype::boolean, 10, 11},
    {dtype::bf16, 14, 13},
    {dtype::u16, 17, 7},
    {dtype::c128, 18, 12},
    {dtype::f16, 19, 13},
    {dtype::u32, 22, 16},
    {dtype::u64, 23, 17},
});

constexpr uint32_t number_of(dtype type) {
  for (const auto& entry : types)
    if (entry.of == type)
      return entry.number;
  return 0;
}

/// Returns null for types that Troupe lacks.
constexpr const type_entry* type_of(uint64_t number) {
  for (const auto& type : types)
    if (type.number == number)
      return &type;
  return nullptr;
}

} // namespace troupe::ops::tensor_proto
