// Tensors in files of NumPy's format.
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/types/tensor.hpp"

#include <string>

namespace troupe {

/// Reads a file that numpy.save() wrote: see read_npy() in serialization/arrays/npy.hpp. Throws,
/// naming the file.
TROUPE_API tensor load_npy(const std::string& path);

/// Writes a file for numpy.load(). NumPy reads bf16 as two raw bytes.
TROUPE_API void save_npy(const std::string& path, const tensor& value);

} // namespace troupe
