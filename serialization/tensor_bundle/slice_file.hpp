// Checkpoints of TensorFlow, version 1 of the format: one file, which is a sorted table of slices,
// or several files. The format is old. A file is held in memory as a whole.
#pragma once
#include "troupe/serialization/storage/file_system.hpp"
#include "troupe/serialization/tensor_bundle/tensor_bundle.hpp"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace troupe {

class slice_file_reader {
public:
  /// `pattern` is a path whose last part may have `?` for a character and `*` for any number of
  /// characters. Fails with not_found if no file has such a name, with data_loss for damage, and
  /// with resource_exhausted if the files together have more than 4 GiB.
  static result<slice_file_reader> open(file_system& files, const std::string& pattern);

  /// Sorted by name.
  const std::vector<bundle_entry>& tensors() const noexcept { return entries_; }
  const bundle_entry* find(std::string_view name) const noexcept;
  /// Reads a tensor, or a part of it; fails if some of its elements are in other checkpoints.
  result<tensor> read(std::string_view name) const;
  result<tensor> read_slice(std::string_view name, std::span<const int64_t> offset,
                            const shape& dims) const;

private:
  status add(file_system& files, const std::string& path, uint64_t& bytes_left);

  std::string pattern_;
  std::vector<bundle_entry> entries_;
  std::map<std::string, std::string, std::less<>> rows_; // the values of slices, by key
};

/// Writes such a file. finish() replaces an existing file of that path.
class slice_file_writer {
public:
  slice_file_writer(file_system& files, std::string path)
      : files_(&files), path_(std::move(path)) {}

  /// Adds a slice of a tensor, which may be the whole tensor. Fails with resource_exhausted for
  /// slices that the format cannot hold, of about 2 GB and more.
  status add(const std::string& name, const shape& full_shape, std::span<const int64_t> offset,
             const tensor& value);
  status finish();

private:
  file_system* files_;
  std::string path_;
  std::map<std::string, bundle_entry> tensors_;
  std::map<std::string, std::string> rows_;
};

/// Whether a name matches a pattern with `?` and `*`.
bool matches_pattern(std::string_view name, std::string_view pattern) noexcept;

} // namespace troupe
