#include "troupe/ops/sets/shared/unique_shapes.hpp"

#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/kernel/element_types.hpp"

#include <algorithm>

namespace troupe::ops {
namespace {

template <class T>
size_t hash_of(const T& value) {
  if constexpr (is_complex<T>)
    return hash_of(value.real()) * 31 + hash_of(value.imag());
  else if constexpr (requires { value.words; })
    return std::hash<uint64_t>{}(value.words[0]);
  else if constexpr (std::is_same_v<T, std::string>)
    return std::hash<T>{}(value);
  else if (is_nan(widen(value))) // otherwise many NaNs, each of its own kind, would share a bucket
    return std::hash<const void*>{}(&value);
  else
    return std::hash<compute_type<T>>{}(widen(value));
}

template <class T>
bool equals(const T& a, const T& b) {
  if constexpr (requires { a.words; })
    return std::ranges::equal(a.words, b.words);
  else
    return a == b;
}

// Mixes the bits, so that values that differ in few bits, such as small numbers, spread over the
// buckets.
size_t mixed(size_t hash, size_t next) {
  auto x = (static_cast<uint64_t>(hash) ^ next) * 0x9e37'79b9'7f4a'7c15;
  return static_cast<size_t>(x ^ x >> 32);
}

template <class T>
size_t hash_row(const void* row, int64_t length) {
  size_t hash = 0;
  for (int64_t i = 0; i < length; ++i)
    hash = mixed(hash, hash_of(static_cast<const T*>(row)[i]));
  return hash;
}

template <class T>
bool rows_equal(const void* a, const void* b, int64_t length) {
  for (int64_t i = 0; i < length; ++i)
    if (!equals(static_cast<const T*>(a)[i], static_cast<const T*>(b)[i]))
      return false;
  return true;
}

} // namespace

row_identity::row_identity(dtype type, int64_t length_) : length(length_) {
  auto use = [&]<class T>(std::type_identity<T>) {
    hash = hash_row<T>;
    equal = rows_equal<T>;
  };
  switch (type) {
    case dtype::f16: use(std::type_identity<float16>{}); break;
    case dtype::bf16: use(std::type_identity<bfloat16>{}); break;
    case dtype::f32: use(std::type_identity<float>{}); break;
    case dtype::f64: use(std::type_identity<double>{}); break;
    case dtype::c64: use(std::type_identity<std::complex<float>>{}); break;
    case dtype::c128: use(std::type_identity<std::complex<double>>{}); break;
    default: with_word(type, use);
  }
}

distinct_rows::distinct_rows(dtype type, int64_t length)
    : numbers_(16, hash{{type, length}}, equal{{type, length}}) {}

int64_t distinct_rows::number_of(const void* row) {
  return numbers_.try_emplace(row, count()).first->second;
}

} // namespace troupe::ops
