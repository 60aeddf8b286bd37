// Tensors as NumPy saves them (.npy).
#pragma once
#include "troupe/runtime/types/tensor.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace troupe {

/// Reads an array of any of our types: little or big endian, in C or in Fortran order. Text of
/// fixed length ('S', 'U') becomes strings, UTF-8 for 'U', without the zeros that fill it up. Two
/// raw bytes ('V2'), which is how NumPy saves bfloat16, become bf16. Fails with data_loss for
/// damaged files, and with unimplemented for arrays of what we have no type for.
result<tensor> read_npy(std::span<const std::byte> bytes);

/// Writes an array, little endian and in C order; numpy.load() reads it. NumPy has no bfloat16 of
/// its own: bf16 becomes 'V2', to be seen as `.view(ml_dtypes.bfloat16)`. Strings become 'S' of the
/// longest's length; fails for one that ends with a zero byte, which would be lost.
result<std::string> write_npy(const tensor& value);

} // namespace troupe
