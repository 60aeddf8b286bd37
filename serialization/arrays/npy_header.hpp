// The header of a .npy file, which precedes the elements.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace troupe {

/// The type of elements as NumPy names it: "<f4".
struct npy_type {
  dtype type = dtype::none;
  bool big_endian = false;
  bool wide_text = false; ///< 4 bytes for each character
  size_t bytes = 0;       ///< of an element in the file

  static result<npy_type> parse(std::string_view text);
};

struct npy_header {
  npy_type element;
  bool fortran_order = false;
  shape dims;
  size_t bytes = 0; ///< of the header itself

  /// Reads the header, a dictionary in Python's notation, and checks every part of it.
  static result<npy_header> parse(std::span<const std::byte> file);
};

/// The header of a file in C order, padded so that the elements are aligned.
std::string npy_header_text(std::string_view type, const shape& dims);

} // namespace troupe
