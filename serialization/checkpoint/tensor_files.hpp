// Reads tensors by name from files of any supported format.
#pragma once
#include "troupe/runtime/types/tensor.hpp"
#include "troupe/serialization/storage/file_system.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Threads may read concurrently.
class tensor_files {
public:
  struct entry {
    std::string name;
    dtype type = dtype::none; ///< none: a type that Troupe does not have
    shape dims = {};
  };

  /// Opens a checkpoint of Troupe or the latest of a folder of them, a `.safetensors` or `.npz`
  /// file, or a checkpoint of TensorFlow: the prefix of version 2, one of its files or the .meta
  /// file, a file of version 1, a folder with a file "checkpoint", or a SavedModel. Fails with
  /// not_found if the path is none of these.
  static result<tensor_files> open(file_system& files, const std::string& path);

  const std::string& path() const noexcept { return path_; }   ///< of the opened file or folder
  std::string_view format() const noexcept { return format_; } ///< for display: "safetensors"
  /// In the order of names.
  const std::vector<entry>& tensors() const noexcept { return entries_; }
  const entry* find(std::string_view name) const noexcept;
  /// Fails with not_found for an unknown name. Fails with the file and the tensor if bytes have
  /// changed.
  result<tensor> read(std::string_view name) const;
  /// Reads all tensors; compares checksums if the format has them.
  status verify() const;

private:
  // The reader of a format.
  struct source {
    virtual ~source() = default;
    virtual result<tensor> read(std::string_view name) const = 0;
  };
  template <class Reader>
  struct source_of;

  template <class Reader>
  static result<std::unique_ptr<source>> keep(result<Reader> opened);

  std::string path_;
  std::string_view format_;
  std::vector<entry> entries_;
  std::unique_ptr<source> source_;
};

} // namespace troupe
