// Tensors in the format of NumPy (.npy).
#pragma once
#include "troupe/runtime/types/tensor.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace troupe {

/// Reads an array of any type that Troupe has: little or big endian, in C or in Fortran order. Text
/// of fixed length ('S', 'U') becomes strings, UTF-8 for 'U', without the zeros at its end. Two raw
/// bytes ('V2'), which is how NumPy saves bfloat16, become bf16. Fails with data_loss for damaged
/// files, and with unimplemented for arrays of other types.
result<tensor> read_npy(std::span<const std::byte> bytes);

/// Writes an array, little endian and in C order; numpy.load() reads it. NumPy itself has no
/// bfloat16: bf16 becomes 'V2', which `.view(ml_dtypes.bfloat16)` converts. Strings become 'S' of
/// the longest one's length; fails for a string that ends with a zero byte, which would be lost.
result<std::string> write_npy(const tensor& value);

} // namespace troupe
