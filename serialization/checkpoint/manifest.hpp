// The manifest of a checkpoint: what is in which file of it, and what training needs to go on. It
// is written last: a folder without a manifest is no checkpoint.
//
// A JSON object: "troupe": "checkpoint", "version": 1, "content", and "checksum", which is XXH3 of
// the content without spaces.
#pragma once
#include "troupe/serialization/checkpoint/safetensors.hpp"

namespace troupe {

/// Where a part of a partitioned variable lies in the whole.
struct manifest_slice {
  shape whole;
  std::vector<int64_t> offset; ///< of its first element, for each axis

  bool operator==(const manifest_slice&) const = default;
};

struct manifest_tensor {
  std::string name;
  dtype type = dtype::none;
  shape dims; ///< of what is in the file
  std::optional<manifest_slice> slice = {};
  std::string file;      ///< beside the manifest: a name without folders
  std::string stored_as; ///< its name there
  uint64_t bytes = 0;    ///< in the file
  uint64_t checksum = 0; ///< XXH3 with 64 bits of these bytes

  bool operator==(const manifest_tensor&) const = default;
};

struct checkpoint_manifest {
  int64_t step = 0;
  std::vector<manifest_tensor> tensors; ///< of each name either one, or slices that cover the whole
  /// Where readers and streams of random numbers stand. Any bytes; only their owners read them.
  std::map<std::string, std::string> positions;
  std::map<std::string, uint64_t> incarnations; ///< of each task that has saved something
  std::string graph_digest;
  std::map<std::string, std::string> made; ///< who wrote it, when, where: for people

  bool operator==(const checkpoint_manifest&) const = default;
};

/// The newest version that parse_manifest() reads.
inline constexpr int manifest_version = 1;

/// Fails for what parse_manifest() would refuse. The order of tensors is that of names and offsets.
result<std::string> manifest_json(const checkpoint_manifest& manifest);

/// Checks everything that can be known without the other files. Errors begin with the path, and
/// name the tensor: data_loss for damage, unimplemented for a newer version.
result<checkpoint_manifest> parse_manifest(std::string_view text, const std::string& path);

/// Writes it durably, in place of one that is there (replace_file()).
status write_manifest(file_system& files, const std::string& path,
                      const checkpoint_manifest& manifest);

result<checkpoint_manifest> read_manifest(file_system& files, const std::string& path);

/// Describes a whole tensor that has just been written to a file beside the manifest.
manifest_tensor manifest_entry(const stored_tensor& stored, std::string file, dtype type,
                               const shape& dims);

/// Reads what the manifest says of a tensor from its file. Fails with data_loss, naming both, if
/// the file has another type or shape under that name, or if the checksum of its bytes differs: the
/// header of safetensors has no checksum of its own.
result<tensor> read_stored(const safetensors_reader& file, const manifest_tensor& entry,
                           allocator& from = heap_allocator());

} // namespace troupe
