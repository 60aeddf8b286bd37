// Several arrays in one file, as NumPy saves them (.npz): a zip archive of .npy files.
#pragma once
#include "troupe/runtime/types/tensor.hpp"
#include "troupe/serialization/arrays/zip.hpp"

#include <utility>

namespace troupe {

class npz_reader {
public:
  static result<npz_reader> open(file_system& files, const std::string& path);

  /// Returns the names of the arrays, without ".npy", in the order of the archive.
  std::vector<std::string> names() const;

  /// Returns the type and the shape of an array, without reading its elements. Fails as read()
  /// does.
  result<std::pair<dtype, shape>> describe(std::string_view name) const;

  /// Reads an array (read_npy()). Errors name the file and the array: not_found, data_loss, and
  /// unimplemented for a type that Troupe does not have.
  result<tensor> read(std::string_view name) const;

private:
  explicit npz_reader(zip_reader archive) : archive_(std::move(archive)) {}
  result<const zip_entry*> find(std::string_view name) const;

  zip_reader archive_;
};

/// Writes arrays, as numpy.savez() does, or with `deflate` as numpy.savez_compressed() does. Syncs
/// the file.
status write_npz(file_system& files, const std::string& path,
                 std::span<const std::pair<std::string, tensor>> arrays, bool deflate = false);

} // namespace troupe
