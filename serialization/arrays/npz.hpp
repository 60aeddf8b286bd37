// Several arrays in one file, as NumPy saves them (.npz): a zip archive of .npy files.
#pragma once
#include "troupe/runtime/types/tensor.hpp"
#include "troupe/serialization/arrays/zip.hpp"

#include <utility>

namespace troupe {

class npz_reader {
public:
  static result<npz_reader> open(file_system& files, const std::string& path);

  /// Of the arrays, without ".npy", in the order of the archive.
  std::vector<std::string> names() const;

  /// The type and the extents of an array, without its elements. Fails as read() does.
  result<std::pair<dtype, shape>> describe(std::string_view name) const;

  /// Reads an array (read_npy()). Errors name the file and the array: not_found, data_loss, and
  /// unimplemented for a type that we do not have.
  result<tensor> read(std::string_view name) const;

private:
  explicit npz_reader(zip_reader from) : archive_(std::move(from)) {}
  result<const zip_entry*> find(std::string_view name) const;

  zip_reader archive_;
};

/// Writes arrays, as numpy.savez() does, or, deflated, numpy.savez_compressed(). Syncs the file.
status write_npz(file_system& files, const std::string& path,
                 std::span<const std::pair<std::string, tensor>> arrays, bool deflate = false);

} // namespace troupe
