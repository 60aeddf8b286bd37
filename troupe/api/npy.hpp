// Tensors in files of NumPy's format.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

#include <string>

namespace troupe {

/// Reads what numpy.save() wrote: see read_npy() in serialization/npy.hpp. Throws, naming the file.
tensor load_npy(const std::string& path);

/// Writes what numpy.load() reads. NumPy sees bf16 as two raw bytes.
void save_npy(const std::string& path, const tensor& value);

} // namespace troupe
