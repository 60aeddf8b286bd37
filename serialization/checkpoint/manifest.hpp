// The manifest of a checkpoint: the tensors of each file, and the state that training needs to
// continue. It is written last: a folder without a manifest is not a checkpoint.
//
// A JSON object: "troupe": "checkpoint", "version": 1, "content", and "checksum", which is XXH3 of
// the content without spaces.
#pragma once
#include "troupe/serialization/checkpoint/safetensors.hpp"

namespace troupe {

/// The position of a part of a partitioned variable in the whole.
struct manifest_slice {
  shape full_shape;
  std::vector<int64_t> offset; ///< of its first element, for each axis

  bool operator==(const manifest_slice&) const = default;
};

struct manifest_tensor {
  std::string name;
  dtype type = dtype::none;
  shape dims; ///< in the file
  std::optional<manifest_slice> slice = {};
  std::string file;      ///< beside the manifest: a name without folders
  std::string stored_as; ///< the name in the file
  uint64_t bytes = 0;    ///< in the file
  uint64_t checksum = 0; ///< XXH3 with 64 bits of these bytes

  bool operator==(const manifest_tensor&) const = default;
};

struct checkpoint_manifest {
  int64_t step = 0;
  std::vector<manifest_tensor>
      tensors; ///< for each name either one, or slices that cover the whole
  /// The positions of readers and streams of random numbers: opaque bytes.
  std::map<std::string, std::string> positions;
  std::map<std::string, uint64_t> incarnations; ///< of each task that has saved a tensor
  std::string graph_digest;
  std::map<std::string, std::string> description; ///< writer, time, host: for information

  bool operator==(const checkpoint_manifest&) const = default;
};

/// The newest version that parse_manifest() reads.
inline constexpr int manifest_version = 1;

/// Fails for manifests that parse_manifest() refuses. Tensors are ordered by names and offsets.
result<std::string> manifest_json(const checkpoint_manifest& manifest);

/// Checks everything that does not need the other files. Errors begin with the path, and name the
/// tensor: data_loss for damage, unimplemented for a newer version.
result<checkpoint_manifest> parse_manifest(std::string_view text, const std::string& path);

/// Writes the manifest durably, and replaces an existing one (replace_file()).
status write_manifest(file_system& files, const std::string& path,
                      const checkpoint_manifest& manifest);

result<checkpoint_manifest> read_manifest(file_system& files, const std::string& path);

/// The entry of a whole tensor that was written to a file beside the manifest.
manifest_tensor manifest_entry(const stored_tensor& stored, std::string file, dtype type,
                               const shape& dims);

/// Reads a tensor from its file and checks it against the manifest. Fails with data_loss, naming
/// both, if the file has another type or shape under that name, or if the checksum of the bytes
/// differs: the header of safetensors has no checksum of its own.
result<tensor> read_stored(const safetensors_reader& file, const manifest_tensor& entry,
                           allocator& memory = heap_allocator());

} // namespace troupe
