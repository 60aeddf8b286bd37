// Checkpoints of TensorFlow, version 2 of the format: PREFIX.index names tensors and their places
// in PREFIX.data-00000-of-0000N. Keras and tf.train.Checkpoint write the same format; their tensors
// have long names, and an additional string tensor describes the objects.
#pragma once
#include "troupe/runtime/types/tensor.hpp"
#include "troupe/serialization/storage/file_system.hpp"
#include "troupe/serialization/storage/slices.hpp"

#include <map>
#include <memory>

namespace troupe {

/// The entry of a tensor in the index.
struct bundle_entry {
  std::string name;
  dtype type = dtype::none; ///< none: a type that Troupe does not have, such as DT_RESOURCE
  shape dims = {};
  std::vector<tensor_slice> slices = {}; ///< of a partitioned variable; empty for others
  uint64_t bytes = 0;                    ///< in the data files
  uint64_t checksum = 0;                 ///< XXH3 of the checksums of its parts in the index
  bool complete = true; ///< false in a shard: other checkpoints have the other slices
};

/// A checkpoint whose index has been read and checked. Threads may read at the same time.
class tensor_bundle_reader {
public:
  /// Fails with data_loss for damage, and with not_found if a file of the checkpoint is missing.
  static result<tensor_bundle_reader> open(file_system& files, const std::string& prefix);
  tensor_bundle_reader(tensor_bundle_reader&&) noexcept;
  ~tensor_bundle_reader();

  /// Sorted by name.
  std::span<const bundle_entry> tensors() const noexcept { return entries_; }
  const bundle_entry* find(std::string_view name) const noexcept;

  /// Reads a tensor, and assembles it if it is partitioned. Every checksum is compared: fails with
  /// data_loss for damage, and with failed_precondition if slices are missing.
  result<tensor> read(std::string_view name, allocator& from = heap_allocator()) const;

  /// Reads a part of a tensor, from only those slices that have elements of the part.
  result<tensor> read_slice(std::string_view name, std::span<const int64_t> offset,
                            const shape& dims, allocator& from = heap_allocator()) const;

private:
  struct stored_range;
  tensor_bundle_reader();
  status add(const std::string& key, const std::string& value,
             const std::map<std::string_view, std::string_view>& rows);
  result<stored_range> check_range(std::string_view name, const std::string& value, dtype type,
                                   const shape& dims) const;
  result<tensor> read_at(std::string_view name, const stored_range& range, dtype type,
                         const shape& dims, allocator& from) const;
  result<tensor> read_strings(std::string_view name, const stored_range& range, const shape& dims,
                              allocator& from) const;
  status damaged(std::string_view name, const stored_range& range, std::string_view reason) const;

  std::string index_path_;
  std::vector<std::unique_ptr<readable_file>> shards_;
  std::vector<bundle_entry> entries_;
  std::vector<std::vector<stored_range>>
      ranges_; // of each entry: the tensor's, or one for each slice
};

/// Writes a checkpoint with one data file. An existing checkpoint is replaced at the end. A crash
/// between its two files leaves new data with an old index, so choose a new prefix for each.
class tensor_bundle_writer {
public:
  /// With `partial`, slices need not cover their tensor: the result is a shard, to be merged with
  /// others.
  static result<tensor_bundle_writer> begin(file_system& files, const std::string& prefix,
                                            bool partial = false);

  /// Writes a tensor, which must be on the host. Tensors may come in any order of names.
  status add(const std::string& name, const tensor& value);
  /// Writes a slice of a partitioned variable; finish() checks that its slices cover the variable.
  status add_slice(const std::string& name, const shape& full_shape,
                   std::span<const int64_t> offset, const tensor& value);

  /// Syncs the data, then writes the index durably.
  status finish();

private:
  struct partitioned {
    dtype type = dtype::none;
    shape full_shape;
    std::vector<tensor_slice> slices = {};
  };

  status add_row(std::string key, const tensor& value, std::string_view name);
  status append_strings(const tensor& value, uint32_t& crc);

  file_system* files_ = nullptr;
  std::string prefix_;
  bool partial_ = false;
  std::unique_ptr<writable_file> data_;
  std::map<std::string, std::string> rows_; // of the index
  std::map<std::string, partitioned> partitioned_;
};

/// Merges checkpoints into one. The data files are renamed, so they must be on one disk. Slices of
/// one tensor are combined; fails if a tensor is in two checkpoints, or if slices overlap. The old
/// indices are removed. With `allow_missing`, missing checkpoints are skipped.
status merge_tensor_bundles(file_system& files, std::span<const std::string> prefixes,
                            const std::string& destination, bool allow_missing = false);

} // namespace troupe
